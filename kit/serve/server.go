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
	// readTimeout is how long a client may take to send a whole request.
	readTimeout = 5 * time.Second
	// writeTimeout bounds a response. A profile adds its duration.
	writeTimeout = 10 * time.Second
	// idleTimeout is how long a connection may wait for its next request: longer than
	// the time between two scrapes or probes.
	idleTimeout = 2 * time.Minute
	// grace is how long running responses may take when the server stops.
	grace = time.Second
	// maxHeader is the size of a request's header.
	maxHeader = 16 << 10
)

// ErrRemote is Listen's error for an address that is not loopback.
var ErrRemote = errors.New("other machines could reach it")

// Server is an HTTP server. Create it with Listen.
type Server struct {
	// URL is its address for clients on this machine, with the actual port.
	URL string

	listener net.Listener
	http     *http.Server
}

// Listen takes the address, HOST:PORT, but does not serve it: call Run, once. An empty HOST means every
// interface, and port 0 any free port. remote allows an address that other machines can reach. Clients that
// connect before Run wait. handler is called with the bound address. An error says what to do, except
// ErrRemote.
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
			// The handler, which may check the Host, also answers OPTIONS *.
			DisableGeneralOptionsHandler: true,
		},
	}, nil
}

// Secure turns it into an HTTPS server with HTTP/1.1. Call it before Run.
func (s *Server) Secure(config *tls.Config) {
	s.listener = tls.NewListener(s.listener, config)
	s.URL = "https" + strings.TrimPrefix(s.URL, "http")
}

// Run serves until ctx is done, lets running responses finish within a second, closes every connection and
// returns nil. It returns an error if serving fails before that.
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

// Reachable replaces "every interface" by an address that this machine can open.
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
