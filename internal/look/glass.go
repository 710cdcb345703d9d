package look

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"

	"example.com/byhand/internal/observer"
	"example.com/byhand/internal/trace"
)

// Glass passes a program's requests on to an API server, with the credentials of its configuration.
// Its methods are safe for concurrent use.
type Glass struct {
	// Observer has the steps of what passes, for the page and for a recording.
	*observer.Observer
	// Kubeconfig is the file that leads a program through the Glass.
	Kubeconfig string
	// URL is where it listens: https on loopback.
	URL string

	dir, token string
	proxy      httputil.ReverseProxy
	server     http.Server
	heard      atomic.Bool
	kinds      map[string]string // by resource
	world      *world
	story      *story
	findings   *findings
}

// New listens at address, which must be of this machine alone; port 0 is any free one. config leads
// to the API server. The story goes to out. What is allowed, by the name of a finding, is none. Close
// ends it.
func New(config *rest.Config, address string, out io.Writer, allowed ...string) (g *Glass, err error) {
	findings, err := newFindings(allowed)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("--listen %s: give 127.0.0.1:PORT: the glass has your credentials, so nobody else may reach it", address)
	}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w: give another port, or 0 for any free one", err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.ParseIP(host)}, nil)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	g = &Glass{URL: "https://" + listener.Addr().String(), token: rand.Text(), world: newWorld(), story: &story{out: out, found: map[string]int{}}, findings: findings,
		Observer: observer.New(observer.Options{All: true, After: toldAfter}), kinds: kindsOf(config)}
	if err := g.forward(config, target); err != nil {
		return nil, err
	}
	if err := g.writeKubeconfig(certificate); err != nil {
		return nil, err
	}
	g.server = http.Server{Handler: g, ErrorLog: log.New(io.Discard, "", 0), TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}}
	go func() { _ = g.server.ServeTLS(listener, "", "") }()
	return g, nil
}

// toldAfter is how long after it happened a step is told: two connections and a busy machine may be
// between the event of a write and its answer.
const toldAfter = 250 * time.Millisecond

// kindsOf asks for the kinds that the API server has.
func kindsOf(config *rest.Config) map[string]string {
	kinds := map[string]string{}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return kinds
	}
	_, lists, _ := client.ServerGroupsAndResources() // as far as they are known
	for _, list := range lists {
		version, _ := schema.ParseGroupVersion(list.GroupVersion)
		for _, r := range list.APIResources {
			kinds[version.WithResource(r.Name).GroupResource().String()] = r.Kind
		}
	}
	return kinds
}

// forward makes the proxy. It speaks HTTP/1.1, because an upgrade, such as exec, needs it.
func (g *Glass) forward(config *rest.Config, to *url.URL) error {
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"}
	config.WrapTransport = nil // What it would change in an answer, the program must see.
	transport, err := rest.TransportFor(config)
	if err != nil {
		return err
	}
	g.proxy = httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Del("Authorization") // The token is the Glass's own.
			if exchangeOf(r.In) != nil {
				r.Out.Header.Del("Accept-Encoding")
				r.Out.Header.Set("Accept", readable(r.In.Header.Get("Accept")))
			}
		},
		Transport: transport,
		ModifyResponse: func(response *http.Response) error {
			if x := exchangeOf(response.Request); x != nil {
				x.answered(response)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if x := exchangeOf(r); x != nil {
				what, reason := trace.Failed, err.Error()
				if x.list || x.watch {
					what = trace.Refused
				}
				if r.Context().Err() != nil {
					reason = "" // The program has not waited.
				}
				x.note(what, 0, []byte(reason))
			}
			panic(http.ErrAbortHandler) // as if nothing were in between
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return nil
}

// readable leaves of the encodings that a client accepts those that are JSON.
func readable(accept string) string {
	var all []string
	for _, one := range strings.Split(accept, ",") {
		if kind, _, _ := strings.Cut(strings.TrimSpace(one), ";"); kind == "application/json" || kind == "*/*" {
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return "application/json"
	}
	return strings.Join(all, ",")
}

// ServeHTTP passes a request on that brings the token.
func (g *Glass) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+g.token)) != 1 {
		http.Error(w, "Unauthorized: use the kubeconfig that look has printed", http.StatusUnauthorized)
		return
	}
	g.heard.Store(true)
	if x := g.newExchange(r); x != nil {
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
		r.Body = along{io.TeeReader(r.Body, &x.sent), r.Body}
	}
	g.proxy.ServeHTTP(w, r)
}

// writeKubeconfig writes the file that leads through the Glass.
func (g *Glass) writeKubeconfig(ca []byte) (err error) {
	if g.dir, err = os.MkdirTemp("", "look-"); err != nil {
		return err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["look"] = &clientcmdapi.Cluster{Server: g.URL, CertificateAuthorityData: ca}
	config.AuthInfos["look"] = &clientcmdapi.AuthInfo{Token: g.token}
	config.Contexts["look"] = &clientcmdapi.Context{Cluster: "look", AuthInfo: "look"}
	config.CurrentContext = "look"
	g.Kubeconfig = filepath.Join(g.dir, "kubeconfig")
	return clientcmd.WriteToFile(*config, g.Kubeconfig) // readable by its owner alone
}

// Heard reports whether any request has come.
func (g *Glass) Heard() bool { return g.heard.Load() }

// Close ends all requests, tells what is left to tell, and the findings, and removes the kubeconfig.
func (g *Glass) Close() error {
	_ = g.server.Close()
	g.Observer.Close()
	g.finish()
	return os.RemoveAll(g.dir)
}
