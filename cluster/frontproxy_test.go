package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The API server can prove that it is the front proxy, and its administrator cannot: each
// has a CA of its own.
func TestFrontProxy(t *testing.T) {
	c := cluster{home: filepath.Join(t.TempDir(), "with space"), name: "x"}
	if c.knowsFrontProxy() {
		t.Error("a cluster without certificates knows the front proxy")
	}
	if err := c.writeFrontProxy(); err != nil {
		t.Fatal(err)
	}
	if !c.knowsFrontProxy() {
		t.Error("a cluster with certificates knows no front proxy")
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(c.frontProxy(), "client.crt"), filepath.Join(c.frontProxy(), "client.key"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(c.frontProxy(), "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("the certificate does not prove who shows it: %v", err)
	}
	if pair.Leaf.Subject.CommonName != frontProxyName {
		t.Errorf("it is of %q, want %q", pair.Leaf.Subject.CommonName, frontProxyName)
	}
}

// The API server is told whom to believe, and shows the certificate that this is.
func TestFrontProxyFlags(t *testing.T) {
	c := cluster{home: t.TempDir(), name: "x"}
	writeFile(t, c.kwokctlConfig(), "")
	if err := c.writeKwokctlConfig(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(c.kwokctlConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  - key: requestheader-client-ca-file\n    value: \"" + filepath.Join(c.frontProxy(), "ca.crt") + "\"\n  - key:",
		"  - key: requestheader-allowed-names\n    value: " + frontProxyName + "\n  - key:",
		"  - key: proxy-client-cert-file\n    value: \"" + filepath.Join(c.frontProxy(), "client.crt") + "\"\n    override: true\n",
		"  - key: proxy-client-key-file\n    value: \"" + filepath.Join(c.frontProxy(), "client.key") + "\"\n    override: true\n",
	} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the config lacks\n%s", want)
		}
	}
}

// A cluster from before there was a front proxy says so, in one line, and works on.
func TestFrontProxyMissing(t *testing.T) {
	c := cluster{home: t.TempDir(), name: "x"}
	var out bytes.Buffer
	c.warnWithoutFrontProxy(&out)
	if want := "cluster x was created before clusters knew a front proxy, which chapters/apiserver needs: make it anew (make cluster-down, make cluster)\n"; out.String() != want {
		t.Errorf("said %q, want %q", out.String(), want)
	}
	if err := c.writeFrontProxy(); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if c.warnWithoutFrontProxy(&out); out.Len() > 0 {
		t.Errorf("with a front proxy it says %q", out.String())
	}
}
