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

// Options say what a Proxy does besides passing requests on.
type Options struct {
	// Address is where it listens, on loopback; port 0 is any free one.
	Address string
	// Allowed are the names of findings that are none.
	Allowed []string
	// Known is a file with an earlier Report, "" for none: findings in the same places are not reported.
	Known string
	// Program is the name of the program, for the Report.
	Program string
	// Role is a file with the role of the program, "" for none.
	Role string
}

// Proxy passes a program's requests on to an API server, with the credentials of its configuration.
// Its methods are safe for concurrent use.
type Proxy struct {
	// Observer has the steps of what passes, for the log, the page and a recording.
	*observer.Observer
	// Kubeconfig is the file that leads a program through the Proxy.
	Kubeconfig string

	token      string
	base       string // of every path: the API server may be behind another server
	reverse    *httputil.ReverseProxy
	next       http.RoundTripper
	stop       context.CancelFunc
	running    sync.WaitGroup
	requests   atomic.Int64
	unreadable sync.Map          // what was said to be
	kinds      map[string]string // by resource, of what there was at the start
	program    string
	isReplay   bool
	now        time.Time // of the step that is told
	world      *world
	findings   *findings

	mu     sync.Mutex
	unused []right // that its role gives, and that no request has needed yet
}

// toldAfter is how long after it happened a step is told: two connections and a busy machine may be
// between the event of a write and its answer.
const toldAfter = 250 * time.Millisecond

// newProxy returns one that listens nowhere.
func newProxy(o Options) (p *Proxy, err error) {
	p = &Proxy{token: rand.Text(), program: o.Program, world: newWorld(), kinds: map[string]string{}, Observer: observer.New(observer.Options{All: true, After: toldAfter})}
	if p.findings, err = newFindings(o); err != nil {
		return nil, err
	}
	if o.Role != "" {
		p.unused, err = readRole(o.Role)
	}
	return p, err
}

// New listens, if the API server answers to which config leads: ctx ends the waiting for that. Close
// ends the Proxy. An error says what to do.
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
	_, lists, _ := client.ServerGroupsAndResources() // as far as they are known
	for _, list := range lists {
		version, _ := schema.ParseGroupVersion(list.GroupVersion)
		for _, one := range list.APIResources {
			p.kinds[version.WithResource(one.Name).GroupResource().String()] = one.Kind
		}
	}
	p.base = strings.TrimSuffix(client.RESTClient().Get().URL().Path, "/")
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"} // An upgrade, such as exec, needs it.
	config.WrapTransport = nil               // What it would change in an answer, the program must see.
	if p.reverse, err = testkit.Forward(config); err != nil {
		return nil, err
	}
	p.next, p.reverse.Transport = p.reverse.Transport, p
	return p, p.listen(o.Address)
}

// listen serves at an address, and writes the kubeconfig that leads there.
func (p *Proxy) listen(address string) error {
	server, err := serve.Listen(address, false, func(*net.TCPAddr) http.Handler { return p })
	if err != nil {
		return fmt.Errorf("--listen: %w (127.0.0.1:PORT, for the proxy has your credentials)", err)
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

// ServeHTTP passes a request on that brings the token.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.token)) != 1 {
		http.Error(w, "Unauthorized: use the kubeconfig that look has printed", http.StatusUnauthorized)
		return
	}
	r.Header.Del("Authorization") // The token is the Proxy's own.
	// The API server says how long a request may take.
	control := http.NewResponseController(w)
	_, _ = control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})
	p.requests.Add(1)
	p.reverse.ServeHTTP(w, r)
}

// Requests is how many have come.
func (p *Proxy) Requests() int64 { return p.requests.Load() }

// Close ends all requests, tells what is left to tell, and the findings, and removes the kubeconfig.
func (p *Proxy) Close() error {
	p.stop()
	p.running.Wait()
	p.finish()
	return os.RemoveAll(filepath.Dir(p.Kubeconfig))
}
