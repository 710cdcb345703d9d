package page

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"k8s.io/klog/v2"
)

const (
	// readTimeout is how long a browser may take to send a request.
	readTimeout = 5 * time.Second
	// writeTimeout is how long it may take to read an answer, or one event.
	writeTimeout = 10 * time.Second
	// idleTimeout is how long a connection may wait for its next request.
	idleTimeout = 2 * time.Minute
	// grace is how long answers that have begun may take when the server ends.
	grace = time.Second
	// maxHeader is the size of a request's header.
	maxHeader = 16 << 10
)

// Options says what the page is about. The zero value shows a live program to this
// machine alone.
type Options struct {
	// Remote allows an address that other machines can reach.
	Remote bool
	// Recording is the name of the recording that the Source is. "" says that it is
	// live.
	Recording string
	// Notice is said at the top of the page, "" for nothing.
	Notice string
}

// Server listens, and answers once it runs. Make it with Listen.
type Server struct {
	// URL is where it is reached from this machine, with the port that it has got.
	URL string

	listener net.Listener
	http     *http.Server
}

// Listen takes the address, HOST:PORT, and returns without serving it: call Run,
// once. With port 0 it is any free port. An address that is not loopback is an
// error unless Options allow it. An error says what to do about it.
func Listen(address string, source Source, o Options) (*Server, error) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, explain(address, err)
	}
	if !resolved.IP.IsLoopback() && !o.Remote {
		return nil, fmt.Errorf("cannot show the page on %q: other machines could read it; give 127.0.0.1:PORT, or say --page-remote if they may", address)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		return nil, explain(address, err)
	}
	bound := listener.Addr().(*net.TCPAddr)
	return &Server{
		URL:      "http://" + reachable(bound) + "/",
		listener: listener,
		http: &http.Server{
			Handler:        handler(bound, source, o),
			ReadTimeout:    readTimeout,
			WriteTimeout:   writeTimeout,
			IdleTimeout:    idleTimeout,
			MaxHeaderBytes: maxHeader,
			ErrorLog:       klog.NewStandardLogger("WARNING"),
		},
	}, nil
}

// Run serves until ctx is done, ends every stream of steps and returns nil. It
// returns an error if it cannot go on serving before that.
func (s *Server) Run(ctx context.Context) error {
	// The streams of steps end with ctx.
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

// reachable turns "every interface" into one that a browser can open.
func reachable(address *net.TCPAddr) string {
	if address.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", address.Port)
	}
	return address.String()
}

// explain adds what to do to an error of package net.
func explain(address string, err error) error {
	advice := "give HOST:PORT, such as 127.0.0.1:8081; port 0 is any free one"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "another process listens there; give another port, or 0 for any free one"
	case errors.Is(err, syscall.EACCES):
		advice = "ports below 1024 are for privileged processes; give a higher one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = "this machine has no such address; give 127.0.0.1:PORT"
	}
	// What net.OpError adds is the address again.
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	return fmt.Errorf("cannot show the page on %q: %w: %s", address, err, advice)
}
