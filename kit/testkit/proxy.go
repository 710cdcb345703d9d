//go:build !js

package testkit

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy is Faults in front of a remote API server. It has the credentials of its configuration, and requires
// none from clients.
type Proxy struct {
	Faults
	// URL is where it listens, http on 127.0.0.1.
	URL    string
	server http.Server
}

// NewProxy starts a proxy. Close stops it.
func NewProxy(config *rest.Config) (*Proxy, error) {
	forward, err := Forward(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{Faults: Faults{Next: forward}, URL: "http://" + listener.Addr().String()}
	p.server = http.Server{Handler: p, ErrorLog: forward.ErrorLog}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// Forward passes requests on to an API server, and the credentials that they bring, unless
// config has some.
func Forward(config *rest.Config) (*httputil.ReverseProxy, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) },
		Transport: transport,
		// As if nothing were in between.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}, nil
}

// Close ends the proxy and every request that it carries.
func (p *Proxy) Close() error { return p.server.Close() }

// Kubeconfig writes a kubeconfig that leads through the proxy into dir and returns its
// path.
func (p *Proxy) Kubeconfig(dir string) (file string, err error) {
	return WriteKubeconfig(dir, clientcmdapi.Cluster{Server: p.URL}, clientcmdapi.AuthInfo{})
}

// WriteKubeconfig writes a kubeconfig of one cluster and one user into dir and returns its path.
func WriteKubeconfig(dir string, cluster clientcmdapi.Cluster, user clientcmdapi.AuthInfo) (file string, err error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["c"], config.AuthInfos["u"] = &cluster, &user
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	file = filepath.Join(dir, "kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}
