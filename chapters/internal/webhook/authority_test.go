package webhook_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/byhand/chapters/internal/webhook"
)

// handshake does what a client does that trusts bundle and looks for host. It returns the
// certificate of the server.
func handshake(t *testing.T, authority *webhook.Authority, bundle []byte, host string) (*x509.Certificate, error) {
	t.Helper()
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(bundle) {
		t.Fatalf("no certificate in the bundle %q", bundle)
	}
	served, err := authority.TLS().GetCertificate(&tls.ClientHelloInfo{ServerName: host})
	if err != nil {
		return nil, err
	}
	_, err = served.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: trusted})
	return served.Leaf, err
}

func newAuthority(t *testing.T, hosts []string, options webhook.Options) *webhook.Authority {
	t.Helper()
	authority, err := webhook.NewAuthority(hosts, options)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

// The certificate is for the hosts, and for no other.
func TestHosts(t *testing.T) {
	const service = "byhand-admission.byhand-system.svc"
	authority := newAuthority(t, []string{"127.0.0.1", service}, webhook.Options{})
	for _, host := range []string{"127.0.0.1", service} {
		if _, err := handshake(t, authority, authority.Bundle(), host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"127.0.0.2", "localhost", "byhand-admission.other.svc"} {
		var refused x509.HostnameError
		if _, err := handshake(t, authority, authority.Bundle(), host); !errors.As(err, &refused) {
			t.Errorf("%s: %v, want a HostnameError", host, err)
		}
	}
}

// Clients learn a bundle late, and installing it may fail for a while. All the time, the
// client that has learnt everything and the one that is as late as it may be trust the
// certificate that is served.
func TestRunRotates(t *testing.T) {
	const valid, learn = 4 * time.Minute, 10 * time.Second
	for _, test := range []struct {
		reason        string
		fails, passes time.Duration // installing fails between these two
	}{
		{"every install works", 0, 0},
		{"the first install of a rotation fails", 155 * time.Second, 190 * time.Second},
		{"the last install of a rotation fails", 165 * time.Second, 190 * time.Second},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				authority := newAuthority(t, []string{"127.0.0.1"}, webhook.Options{CA: valid, Learn: learn})
				start := time.Now()
				type installed struct {
					at     time.Duration
					bundle []byte
				}
				var (
					mutex   sync.Mutex
					history []installed
				)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					done <- authority.Run(ctx, func(_ context.Context, bundle []byte) error {
						now := time.Since(start)
						if now > test.fails && now < test.passes {
							return errors.New("no API server")
						}
						mutex.Lock()
						defer mutex.Unlock()
						history = append(history, installed{now, bytes.Clone(bundle)})
						return nil
					})
				}()

				var leaves, authorities []string
				for range 300 {
					now := time.Since(start)
					synctest.Wait()
					mutex.Lock()
					until := slices.Clone(history)
					mutex.Unlock()
					late := until[0]
					for _, install := range until {
						if install.at <= now-learn+time.Second {
							late = install
						}
					}
					for _, known := range [][]byte{until[len(until)-1].bundle, late.bundle} {
						certificate, err := handshake(t, authority, known, "127.0.0.1")
						if err != nil {
							t.Fatalf("after %s: %v", now, err)
						}
						leaves = append(leaves, certificate.SerialNumber.String())
						authorities = append(authorities, string(certificate.AuthorityKeyId))
					}
					time.Sleep(2 * time.Second)
				}
				cancel()
				if err := <-done; err != nil {
					t.Errorf("Run returns %v", err)
				}
				// In ten minutes: a rotation every 160 s, a certificate of the server every 40 s.
				if got := len(slices.Compact(authorities)); got < 4 {
					t.Errorf("%d CAs have signed, want 4 at least", got)
				}
				if got := len(slices.Compact(leaves)); got < 10 {
					t.Errorf("%d certificates were served, want 10 at least", got)
				}
				// Somebody may have overwritten the bundle, so each of them installs it.
				if len(history) < 12 {
					t.Errorf("the bundle was installed %d times, want 12 at least", len(history))
				}
				if got := bytes.Count(authority.Bundle(), []byte("BEGIN")); got > 2 {
					t.Errorf("the bundle has %d CAs, want 2 at most", got)
				}
			})
		})
	}
}

// A program that cannot register at its start should say so and end.
func TestFirstInstall(t *testing.T) {
	authority := newAuthority(t, []string{"127.0.0.1"}, webhook.Options{})
	refused := errors.New("forbidden")
	if err := authority.Run(t.Context(), func(context.Context, []byte) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("Run returns %v, want %v", err, refused)
	}
}

// A CA that clients cannot learn of in time is refused at once, not when it expires.
func TestOptions(t *testing.T) {
	for _, options := range []webhook.Options{
		{CA: time.Minute, Learn: 10 * time.Second},
		{CA: time.Minute, Leaf: time.Hour},
		{Leaf: 30 * time.Second},
	} {
		if _, err := webhook.NewAuthority([]string{"127.0.0.1"}, options); err == nil {
			t.Errorf("%+v is taken", options)
		}
	}
}
