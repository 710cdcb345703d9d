package serve_test

import (
	"crypto/x509"
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

// A client that trusts the bundle accepts the certificate for its hosts only.
func TestCertificate(t *testing.T) {
	const service = "byhand-admission.byhand-system.svc"
	certificate := newCertificate(t, "127.0.0.1", service)
	own, other := certificate.Bundle(), newCertificate(t, service).Bundle()
	shown, err := x509.ParseCertificate(certificate.TLS().Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		host    string
		bundle  []byte
		trusted bool
	}{
		{"127.0.0.1", own, true},
		{service, own, true},
		{"127.0.0.2", own, false},
		{"byhand-admission.other.svc", own, false},
		{service, other, false},
	} {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(test.bundle)
		_, err := shown.Verify(x509.VerifyOptions{DNSName: test.host, Roots: roots})
		if (err == nil) != test.trusted {
			t.Errorf("%s: error %v, want trusted %t", test.host, err, test.trusted)
		}
	}
}
