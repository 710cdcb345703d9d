// Package faults has a proxy that stands between a program and its API server and makes
// happen what happens seldom: the program dies between two writes, an answer is lost, a
// watch is late or cut off.
package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Fault is what happens to one write.
type Fault int

const (
	// Pass: nothing.
	Pass Fault = iota
	// KillBefore: the program is killed, and the API server never gets the request.
	KillBefore
	// KillAfter: the request takes effect, and the program is killed before the answer.
	KillAfter
	// LoseAnswer: the request takes effect, and the connection is cut before the answer.
	LoseAnswer
	// Refuse: the API server never gets the request, the program gets 503.
	Refuse
)

// Proxy passes everything on to an API server, with the credentials of the configuration
// that it was made with. It is safe for concurrent use.
type Proxy struct {
	// URL is where it listens, http on 127.0.0.1.
	URL string
	// Kill ends the program and returns when its process is gone. KillBefore and KillAfter
	// call it. Set it before the program starts.
	Kill func()

	server  http.Server
	forward *httputil.ReverseProxy

	mu      sync.Mutex
	changed *sync.Cond // A hold has ended, or a stream.
	decide  func(n int, r *http.Request) Fault
	writes  []string
	held    map[string]bool
	streams map[*stream]bool
}

// NewProxy listens. Close ends it.
func NewProxy(config *rest.Config) (*Proxy, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{URL: "http://" + listener.Addr().String(), held: map[string]bool{}, streams: map[*stream]bool{}}
	p.changed = sync.NewCond(&p.mu)
	silent := log.New(io.Discard, "", 0)
	p.forward = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) },
		Transport:      transport,
		FlushInterval:  -1,
		ModifyResponse: p.answer,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       silent,
	}
	p.server = http.Server{Handler: p, ErrorLog: silent}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// Close ends the proxy and every request that it carries.
func (p *Proxy) Close() error {
	p.mu.Lock()
	clear(p.held)
	p.changed.Broadcast()
	p.mu.Unlock()
	return p.server.Close()
}

// Kubeconfig writes a kubeconfig that leads through the proxy into dir and returns its
// path.
func (p *Proxy) Kubeconfig(dir string) (file string, err error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: p.URL}
	config.AuthInfos["proxy"] = &clientcmdapi.AuthInfo{}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy", AuthInfo: "proxy"}
	config.CurrentContext = "proxy"
	file = filepath.Join(dir, "proxy.kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}

// OnWrite asks decide what happens to each write from now on: each POST, PUT, PATCH and
// DELETE, except of Events and Leases. n counts them from 1. decide may be nil.
func (p *Proxy) OnWrite(decide func(n int, r *http.Request) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decide, p.writes = decide, nil
}

// Writes returns the method and path of each write since OnWrite, in their order.
func (p *Proxy) Writes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.writes)
}

// HoldWatches keeps back what the watches of a resource, such as "pods", deliver, until
// release is called. Nothing is lost.
func (p *Proxy) HoldWatches(resource string) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[resource] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.held, resource)
		p.changed.Broadcast()
	}
}

// CutWatches ends the open watches of a resource in the middle of their stream.
func (p *Proxy) CutWatches(resource string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.streams {
		if s.resource == resource {
			s.cut()
		}
	}
}

// ServeHTTP passes a request on, or does with it what decide says.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := p.faultOf(r)
	switch fault {
	case KillBefore:
		p.Kill()
		panic(http.ErrAbortHandler)
	case Refuse:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonServiceUnavailable, Message: "refused by the test", Code: http.StatusServiceUnavailable})
	default:
		p.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), faultOfContext{}, fault)))
	}
}

type faultOfContext struct{}

// errLost says that an answer is not passed on.
var errLost = errors.New("the answer is lost")

// answer is called when the API server has answered.
func (p *Proxy) answer(response *http.Response) error {
	r := response.Request
	switch r.Context().Value(faultOfContext{}) {
	case KillAfter:
		p.Kill()
		return errLost
	case LoseAnswer:
		return errLost
	}
	if r.Method == http.MethodGet && r.URL.Query().Get("watch") != "" && response.StatusCode == http.StatusOK {
		response.Body = p.newStream(resourceOf(r.URL.Path), response.Body)
	}
	return nil
}

func (p *Proxy) faultOf(r *http.Request) Fault {
	if r.Method == http.MethodGet || slices.Contains([]string{"events", "leases"}, resourceOf(r.URL.Path)) {
		return Pass
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes = append(p.writes, r.Method+" "+r.URL.Path)
	if p.decide == nil {
		return Pass
	}
	return p.decide(len(p.writes), r)
}

// resourceOf returns "pods" for /api/v1/namespaces/default/pods/one/status.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	skip := map[string]int{"api": 2, "apis": 3}[parts[0]] // The version, or group and version.
	if skip == 0 || len(parts) <= skip {
		return ""
	}
	parts = parts[skip:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	return parts[0]
}

// stream is the body of a watch.
type stream struct {
	io.ReadCloser
	proxy    *Proxy
	resource string
	isCut    bool
}

func (p *Proxy) newStream(resource string, body io.ReadCloser) *stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &stream{ReadCloser: body, proxy: p, resource: resource}
	p.streams[s] = true
	return s
}

// Read returns what the API server has sent, once nothing holds it.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	for s.proxy.held[s.resource] && !s.isCut {
		s.proxy.changed.Wait()
	}
	if s.isCut {
		return 0, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return n, err
}

// cut ends the stream. The proxy is locked.
func (s *stream) cut() {
	s.isCut = true
	s.proxy.changed.Broadcast()
	_ = s.ReadCloser.Close()
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	delete(s.proxy.streams, s)
	s.isCut = true
	s.proxy.changed.Broadcast()
	return s.ReadCloser.Close()
}
