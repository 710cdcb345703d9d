package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

// maxWait is after how long to look at the clock again. A timer does not count the time in
// which the machine slept.
const maxWait = time.Minute

// Options of an Authority. A zero has the default.
type Options struct {
	// CA is how long the certificate of the CA is valid: 30 days.
	CA time.Duration
	// Leaf is the same for the certificate of the server: a quarter of that.
	Leaf time.Duration
	// Learn is after how long every client has read a bundle that was installed: 10 s, or
	// less if the CA is valid for less than 4 minutes. An API server watches it, and has it
	// after some milliseconds. It is at most a sixth of Leaf: the old certificate must
	// outlive it.
	Learn time.Duration
	// Now is the clock: time.Now, or a test's.
	Now func() time.Time
}

// Install writes the bundle to where the clients read it.
type Install func(ctx context.Context, bundle []byte) error

// Authority is the CA of one webhook server: it issues the server's certificate and renews
// it. It belongs to one goroutine. What TLS returns is for any.
type Authority struct {
	hosts   []string
	options Options

	ca     *tls.Certificate
	leaf   atomic.Pointer[tls.Certificate] // what each handshake gets
	bundle []byte
}

// NewAuthority makes a CA, and a certificate for these names and IP addresses.
func NewAuthority(hosts []string, options Options) (*Authority, error) {
	options.CA = cmp.Or(options.CA, 30*24*time.Hour)
	options.Leaf = cmp.Or(options.Leaf, options.CA/4)
	options.Learn = cmp.Or(options.Learn, min(10*time.Second, options.CA/24))
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Leaf > options.CA || options.Learn > options.Leaf/6 {
		return nil, fmt.Errorf("certificates of %s by a CA of %s cannot be renewed in time: clients take %s to learn of a new CA", options.Leaf, options.CA, options.Learn)
	}
	a := &Authority{hosts: hosts, options: options}
	ca, leaf, err := a.issue()
	if err != nil {
		return nil, err
	}
	a.serve(ca, leaf)
	a.bundle = encode(ca)
	return a, nil
}

// Bundle is whom clients must trust, as PEM: the CA, and during a rotation two.
func (a *Authority) Bundle() []byte { return a.bundle }

// TLS configures a server. Each handshake gets the certificate of its moment, so a new
// one needs no restart and ends no connection.
func (a *Authority) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return a.leaf.Load(), nil
		},
	}
}

// Run installs the bundle, and then renews each certificate before it expires, until ctx
// is done. Only the first install makes it return an error. Later ones are logged and
// tried again: there is a third of the time left.
func (a *Authority) Run(ctx context.Context, install Install) error {
	if err := install(ctx, a.bundle); err != nil {
		return err
	}
	for {
		rotation, renewal := a.due()
		when := renewal
		if rotation.Before(renewal) {
			when = rotation
		}
		if a.waitUntil(ctx, when) != nil {
			return nil
		}
		err := a.renew(ctx, install)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			klog.FromContext(ctx).Error(err, "Cannot renew the certificate, trying again", "after", a.options.Learn)
			// What ends this early ends the next wait as well.
			_ = sleep(ctx, a.options.Learn)
		}
	}
}

// due is when the CA is to be replaced, and the certificate of the server.
func (a *Authority) due() (rotation, renewal time.Time) {
	return a.ca.Leaf.NotAfter.Add(-a.options.CA / 3), a.leaf.Load().Leaf.NotAfter.Add(-a.options.Leaf / 3)
}

// renew replaces what is due. The certificate of the server comes first: clients trust its
// CA already, so that needs nobody's help, and a rotation that fails would otherwise let it
// expire. The bundle is installed either way: somebody may have overwritten it.
func (a *Authority) renew(ctx context.Context, install Install) error {
	now := a.options.Now()
	rotation, renewal := a.due()
	if !now.Before(renewal) {
		leaf, err := a.issueLeaf(a.ca)
		if err != nil {
			return err
		}
		a.serve(a.ca, leaf)
	}
	if !now.Before(rotation) {
		return a.Rotate(ctx, install)
	}
	return install(ctx, a.bundle)
}

// Rotate replaces the CA, and with it the certificate of the server. At no time is there a
// client that does not trust the certificate that is served. It takes Options.Learn. After
// an error the server has a certificate that clients trust, the old one or the new one.
func (a *Authority) Rotate(ctx context.Context, install Install) error {
	ca, leaf, err := a.issue()
	if err != nil {
		return err
	}

	// Clients trust both before they see the new one.
	a.bundle = encode(a.ca, ca)
	if err := install(ctx, a.bundle); err != nil {
		return fmt.Errorf("install the old and the new CA: %w", err)
	}
	if err := sleep(ctx, a.options.Learn); err != nil {
		return err
	}
	a.serve(ca, leaf)

	// A client reads the bundle before it connects. Whoever reads this one is served the new
	// certificate.
	a.bundle = encode(ca)
	if err := install(ctx, a.bundle); err != nil {
		// The next renewal installs it. Nobody has the key of the old CA any more.
		return fmt.Errorf("install the new CA alone: %w", err)
	}
	return nil
}

func (a *Authority) serve(ca, leaf *tls.Certificate) {
	a.ca = ca
	a.leaf.Store(leaf)
}

// waitUntil returns nil at that time, or before it the error of ctx.
func (a *Authority) waitUntil(ctx context.Context, when time.Time) error {
	for {
		left := when.Sub(a.options.Now())
		if left <= 0 {
			return ctx.Err()
		}
		if err := sleep(ctx, min(left, maxWait)); err != nil {
			return err
		}
	}
}

// sleep returns nil after d, or before it the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
