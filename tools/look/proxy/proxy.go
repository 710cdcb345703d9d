package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/serve"
	"example.com/byhand/kit/testkit"
)

// Options configure a Proxy.
type Options struct {
	// Address is the loopback address to listen on; port 0 selects a free port.
	Address string
	// Program is the program's name in the Report.
	Program string
	// Allowed are the names of findings that are not reported.
	Allowed []string
	// Known is the file of an earlier Report, "" for none. Its findings are not reported again in the
	// same places.
	Known string
	// Role is the file with the program's role, "" for none.
	Role string
}

// Proxy forwards a program's requests to an API server, with the credentials of its configuration. Its
// methods are safe for concurrent use.
type Proxy struct {
	// Observer has the steps, for the log, the page and a recording.
	*observer.Observer
	// Kubeconfig is the kubeconfig file of the Proxy.
	Kubeconfig string

	token      string
	base       string // prefix of every path: the API server may be behind another server
	reverse    *httputil.ReverseProxy
	next       http.RoundTripper
	stop       context.CancelFunc
	running    sync.WaitGroup
	requests   atomic.Int64
	unreadable sync.Map          // resources and encodings that were logged as unreadable
	kinds      map[string]string // by resource, as discovered at the start
	isReplay   bool
	now        time.Time // of the step that is being logged
	world      *world
	findings   *findings

	mu     sync.Mutex
	unused []permission // permissions of its role that no request has needed yet
}

// toldAfter delays the log: two connections and a busy machine may separate a write's event from its
// response.
const toldAfter = 250 * time.Millisecond

func newProxy(o Options) (p *Proxy, err error) {
	p = &Proxy{token: rand.Text(), world: newWorld(), kinds: map[string]string{}, Observer: observer.New(observer.Options{All: true, After: toldAfter})}
	if p.findings, err = newFindings(o); err != nil {
		return nil, err
	}
	if o.Role != "" {
		p.unused, err = readRole(o.Role)
	}
	return p, err
}

// New starts a Proxy when the API server of config answers; ctx limits the wait. Close stops it. An
// error says what to do.
func New(ctx context.Context, config *rest.Config, o Options) (*Proxy, error) {
	p, err := newProxy(o)
	if err != nil {
		return nil, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, client, config.Host); err != nil {
		return nil, err
	}
	_, lists, _ := client.ServerGroupsAndResources() // partial results are enough
	for _, list := range lists {
		version, _ := schema.ParseGroupVersion(list.GroupVersion)
		for _, one := range list.APIResources {
			p.kinds[version.WithResource(one.Name).GroupResource().String()] = one.Kind
		}
	}
	p.base = strings.TrimSuffix(client.RESTClient().Get().URL().Path, "/")
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"} // needed for upgrades, such as exec
	config.WrapTransport = nil               // The program must get responses unchanged.
	if p.reverse, err = testkit.Forward(config); err != nil {
		return nil, err
	}
	p.next, p.reverse.Transport = p.reverse.Transport, p
	return p, p.listen(o.Address)
}

// listen serves at an address, and writes the kubeconfig for it.
func (p *Proxy) listen(address string) error {
	server, err := serve.Listen(address, false, func(*net.TCPAddr) http.Handler { return p })
	if err != nil {
		return fmt.Errorf("--listen: %w (use 127.0.0.1:PORT: the proxy has your credentials)", err)
	}
	certificate, err := serve.NewCertificate([]string{"127.0.0.1", "::1"}, serve.Lifetime)
	dir, err2 := os.MkdirTemp("", "look-")
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	server.Secure(certificate.TLS())
	p.Kubeconfig, err = testkit.WriteKubeconfig(dir, clientcmdapi.Cluster{Server: server.URL + p.base, CertificateAuthorityData: certificate.Bundle()}, clientcmdapi.AuthInfo{Token: p.token})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	p.running.Go(func() { _ = server.Run(ctx) })
	return nil
}

// ServeHTTP forwards a request that has the token.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.token)) != 1 {
		http.Error(w, "Unauthorized: use the kubeconfig that look has printed", http.StatusUnauthorized)
		return
	}
	r.Header.Del("Authorization") // The token is only for the Proxy.
	// The API server limits the time of a request.
	control := http.NewResponseController(w)
	_, _ = control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})
	p.requests.Add(1)
	p.reverse.ServeHTTP(w, r)
}

// Requests returns the number of requests so far.
func (p *Proxy) Requests() int64 { return p.requests.Load() }

// Close ends all requests, logs the remaining steps and the findings, and removes the kubeconfig.
func (p *Proxy) Close() error {
	p.stop()
	p.running.Wait()
	p.finish()
	return os.RemoveAll(filepath.Dir(p.Kubeconfig))
}
