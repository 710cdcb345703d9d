package webhook

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
)

// issue makes a CA, and a certificate of the server that it has signed.
func (a *Authority) issue() (ca, leaf *tls.Certificate, err error) {
	if ca, err = a.issueCA(); err == nil {
		leaf, err = a.issueLeaf(ca)
	}
	return ca, leaf, err
}

// issueCA makes a certificate that signs others, and nothing else.
func (a *Authority) issueCA() (*tls.Certificate, error) {
	now := a.options.Now()
	return sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: "byhand webhook CA"},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(a.options.CA),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}, nil)
}

// issueLeaf makes the certificate of the server. Clients compare its names with the host
// in the URL, or SERVICE.NAMESPACE.svc, and nobody reads the CommonName.
func (a *Authority) issueLeaf(ca *tls.Certificate) (*tls.Certificate, error) {
	now := a.options.Now()
	leaf := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "byhand webhook"},
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(a.options.Leaf),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	// An IP address among the DNS names is ignored.
	for _, host := range a.hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	return sign(leaf, ca)
}

// sign makes a key, and a certificate for it that ca has signed. Without ca it signs itself.
func sign(template *x509.Certificate, ca *tls.Certificate) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	issuer, issuerKey := template, crypto.PrivateKey(key)
	if ca != nil {
		issuer, issuerKey = ca.Leaf, ca.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate that was signed: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: certificate}, nil
}

// encode writes certificates as PEM, one after the other, without their keys.
func encode(certificates ...*tls.Certificate) []byte {
	var bundle bytes.Buffer
	for _, certificate := range certificates {
		// A Buffer takes whatever is written.
		_ = pem.Encode(&bundle, &pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	}
	return bundle.Bytes()
}
