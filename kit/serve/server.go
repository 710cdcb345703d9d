package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

const (
	// readTimeout is how long a client may take to send a request, all of it.
	readTimeout = 5 * time.Second
	// writeTimeout bounds an answer. A profile adds its own length.
	writeTimeout = 10 * time.Second
	// idleTimeout is how long a connection may wait for its next request: longer than
	// the time between two scrapes or probes.
	idleTimeout = 2 * time.Minute
	// grace is how long answers that have begun may take when the server ends.
	grace = time.Second
	// maxHeader is the size of a request's header.
	maxHeader = 16 << 10
)

// ErrRemote is why Listen refuses an address that is not loopback.
var ErrRemote = errors.New("other machines could reach it")

// Server listens, and answers once it runs. Make it with Listen.
type Server struct {
	// URL is where it is reached from this machine, with the port that it has got.
	URL string

	listener net.Listener
	http     *http.Server
}

// Listen takes the address, HOST:PORT, and returns without serving it: call Run,
// once. Without HOST it is every interface, with port 0 any free port. Only if remote
// is set may it be one that other machines can reach. Clients that come before Run
// wait. handler is called with the address that was taken. An error says what to do
// about it, except ErrRemote.
func Listen(address string, remote bool, handler func(bound *net.TCPAddr) http.Handler) (*Server, error) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, explain(address, err)
	}
	if !remote && !resolved.IP.IsLoopback() {
		return nil, fmt.Errorf("cannot listen on %q: %w", address, ErrRemote)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		return nil, explain(address, err)
	}
	bound := listener.Addr().(*net.TCPAddr)
	return &Server{
		URL:      "http://" + Reachable(bound),
		listener: listener,
		http: &http.Server{
			Handler:        handler(bound),
			ReadTimeout:    readTimeout,
			WriteTimeout:   writeTimeout,
			IdleTimeout:    idleTimeout,
			MaxHeaderBytes: maxHeader,
			// OPTIONS * is answered by the handler, too, which knows who may ask.
			DisableGeneralOptionsHandler: true,
		},
	}, nil
}

// Secure makes it an HTTPS server, of HTTP/1.1. Call it before Run.
func (s *Server) Secure(config *tls.Config) {
	s.listener = tls.NewListener(s.listener, config)
	s.URL = "https" + strings.TrimPrefix(s.URL, "http")
}

// Run serves until ctx is done, lets answers that have begun end within a second,
// closes every connection and returns nil. It returns an error if it cannot go on
// serving before that.
func (s *Server) Run(ctx context.Context) error {
	// Long responses end with ctx: a running profile, a stream.
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	stopped := make(chan struct{})
	keep := context.AfterFunc(ctx, func() {
		defer close(stopped)
		s.stop()
	})
	err := s.http.Serve(s.listener)
	if keep() {
		s.stop()
		return fmt.Errorf("serve %s: %w", s.URL, err)
	}
	<-stopped
	return nil
}

func (s *Server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
}

// Reachable turns "every interface" into an address that this machine can open.
func Reachable(address *net.TCPAddr) string {
	if address.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", address.Port)
	}
	return address.String()
}

// explain adds what to do to an error of package net.
func explain(address string, err error) error {
	advice := "give HOST:PORT, such as 127.0.0.1:8080; port 0 is any free one"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "another process listens there; give another port, or 0 for any free one"
	case errors.Is(err, syscall.EACCES):
		advice = "ports below 1024 are for privileged processes; give a higher one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = "this machine has no such address; give 127.0.0.1:PORT to be reached from this machine"
	}
	// net.OpError repeats the address.
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	return fmt.Errorf("cannot listen on %q: %w: %s", address, err, advice)
}
