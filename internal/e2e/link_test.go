//go:build long

package e2e

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/client-go/tools/clientcmd"
)

// link is a line between a program and the API server that a test can cut.
type link struct {
	kubeconfig string
	mu         sync.Mutex
	open       sync.Cond
	cut        bool
}

// newLink returns a link to the test's API server, for the user of its kubeconfig.
func newLink(s *server) *link {
	s.Helper()
	l := &link{}
	l.open.L = &l.mu
	target, err := url.Parse(s.config.Host)
	if err != nil {
		s.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	var connections sync.WaitGroup
	done := make(chan struct{})
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target.Host)
			if err != nil {
				_ = near.Close()
				continue
			}
			go func() { <-done; _ = near.Close(); _ = far.Close() }()
			connections.Go(func() { l.carry(far, near) })
			connections.Go(func() { l.carry(near, far) })
		}
	}()
	s.Cleanup(func() {
		_ = listener.Close()
		close(done)
		l.set(false)
		connections.Wait()
	})

	config, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		s.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + listener.Addr().String()
	}
	l.kubeconfig = filepath.Join(s.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, l.kubeconfig); err != nil {
		s.Fatal(err)
	}
	return l
}

// carry copies bytes one way. While the link is cut they wait: neither side is told
// that the other side is out of reach.
func (l *link) carry(to io.WriteCloser, from io.ReadCloser) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		l.mu.Lock()
		for l.cut {
			l.open.Wait()
		}
		l.mu.Unlock()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *link) set(cut bool) {
	l.mu.Lock()
	l.cut = cut
	l.mu.Unlock()
	l.open.Broadcast()
}
