package main

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"testing"
)

// The API server can prove that it is the front proxy, and its administrator cannot.
func TestFrontProxy(t *testing.T) {
	c := cluster{home: filepath.Join(t.TempDir(), "with space"), name: "x"}
	if err := c.writeFrontProxy(); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(c.frontProxy(), "client.crt"), filepath.Join(c.frontProxy(), "client.key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("the certificate does not prove who shows it: %v", err)
	}
	if pair.Leaf.Subject.CommonName != frontProxyName {
		t.Errorf("it is of %q, want %q", pair.Leaf.Subject.CommonName, frontProxyName)
	}
}
