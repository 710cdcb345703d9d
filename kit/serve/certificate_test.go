package serve_test

import (
	"crypto/x509"
	"errors"
	"testing"

	"example.com/byhand/kit/serve"
)

func newCertificate(t *testing.T, hosts ...string) *serve.Certificate {
	t.Helper()
	certificate, err := serve.NewCertificate(hosts, serve.Lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// verify does what a client does that trusts bundle and looks for host.
func verify(t *testing.T, certificate *serve.Certificate, bundle []byte, host string) error {
	t.Helper()
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(bundle) {
		t.Fatalf("no certificate in the bundle %q", bundle)
	}
	shown, err := x509.ParseCertificate(certificate.TLS().Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	_, err = shown.Verify(x509.VerifyOptions{DNSName: host, Roots: trusted})
	return err
}

// A client that trusts the bundle takes the certificate for its hosts, and for no other. One
// that trusts another bundle does not take it.
func TestCertificate(t *testing.T) {
	const service = "byhand-admission.byhand-system.svc"
	certificate := newCertificate(t, "127.0.0.1", service)
	for _, host := range []string{"127.0.0.1", service} {
		if err := verify(t, certificate, certificate.Bundle(), host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"127.0.0.2", "localhost", "byhand-admission.other.svc"} {
		var refused x509.HostnameError
		if err := verify(t, certificate, certificate.Bundle(), host); !errors.As(err, &refused) {
			t.Errorf("%s: %v, want a HostnameError", host, err)
		}
	}
	var unknown x509.UnknownAuthorityError
	if err := verify(t, certificate, newCertificate(t, service).Bundle(), service); !errors.As(err, &unknown) {
		t.Errorf("another bundle: %v, want an UnknownAuthorityError", err)
	}
}
