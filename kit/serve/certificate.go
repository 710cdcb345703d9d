package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"time"
)

const (
	// Lifetime of a certificate is longer than any process runs. The key exists only in the process's memory,
	// so a shorter lifetime has no advantage, and nothing expires.
	Lifetime = 10 * 365 * 24 * time.Hour
	// skew is how far a client's clock may be behind.
	skew = 5 * time.Minute
)

// Certificate is a server's self-signed certificate. Clients need to trust only this certificate.
type Certificate struct{ tls tls.Certificate }

// NewCertificate creates a key and a certificate for these names and IP addresses, for Secure. Clients compare
// them with the host in the URL, or with SERVICE.NAMESPACE.svc.
func NewCertificate(hosts []string, lifetime time.Duration) (*Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "byhand"}, // No client compares it.
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	// An IP address among the DNS names is ignored.
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate: %w", err)
	}
	return &Certificate{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}, nil
}

// Bundle returns the certificate without its key, as PEM: clients must trust it.
func (c *Certificate) Bundle() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.tls.Certificate[0]})
}

// TLS returns the configuration of a server with this certificate.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{c.tls}}
}
