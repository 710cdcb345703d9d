//go:build integration || long

package e2e

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// holder returns who holds the Lease.
func (s *server) holder() (string, error) {
	lease, err := s.kube.CoordinationV1().Leases(s.namespace).Get(s.Context(), "byhand", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return "", errors.New("nobody holds the Lease")
	}
	return *lease.Spec.HolderIdentity, nil
}

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

// carry copies bytes one way. While the link is cut they wait: nobody is told
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

// A leader that ends well gives the Lease away after its last worker has
// finished, and the one that stood by goes on.
func TestHandover(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := s.replica(works)
	second := s.replica(standsBy)
	s.createFoo("foo", spec("deployment", 1))
	s.converges("foo", "deployment", 1)
	before, err := s.holder()
	if err != nil {
		t.Fatal(err)
	}

	first.Stop()
	second.WaitFor(works)
	after, err := s.holder()
	if err != nil || after == before {
		t.Errorf("the Lease is held by %s before and by %s after (%v)", before, after, err)
	}
	s.createFoo("other", spec("other", 1))
	s.converges("other", "other", 1)

	// A stand-by that is told to end leaves the Lease alone.
	third := s.replica(standsBy)
	third.Stop()
	if now, err := s.holder(); err != nil || now != after {
		t.Errorf("a stand-by ended and the Lease went from %s to %s (%v)", after, now, err)
	}
	second.Stop()
	if now, err := s.holder(); err == nil {
		t.Errorf("everybody has ended, and %s holds the Lease", now)
	}
	s.settles("foo", "other")
}
