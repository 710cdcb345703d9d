package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// The front proxy is the API server itself, when it passes a request on to an aggregated
// API server: it says in headers who asks, and proves by a certificate that it may say so.
// kwokctl knows no front proxy. It has the API server show the certificate of its own
// administrator, and names no CA for it, so an aggregated server cannot tell who asks.
const frontProxyName = "front-proxy-client"

// frontProxy is the folder of its certificates.
func (c *cluster) frontProxy() string {
	return filepath.Join(c.home, "state", c.name+".front-proxy")
}

// knowsFrontProxy reports whether the cluster was created with these certificates. It has
// them, or it never will: kwokctl keeps the flags that a cluster was created with.
func (c *cluster) knowsFrontProxy() bool {
	_, err := os.Stat(c.frontProxy())
	return err == nil
}

// warnWithoutFrontProxy tells of a cluster that must be made anew for one chapter.
func (c *cluster) warnWithoutFrontProxy(out io.Writer) {
	if !c.knowsFrontProxy() {
		fmt.Fprintf(out, "cluster %s was created before clusters knew a front proxy, which chapters/apiserver needs: make it anew (make cluster-down, make cluster)\n", c.name)
	}
}

// writeFrontProxy makes a CA, and the certificate that the API server shows as the front
// proxy. The CA is of its own: whoever has a certificate that it signed, under the name
// above, can be anybody. Its key is not kept.
func (c *cluster) writeFrontProxy() error {
	ca := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "front-proxy-ca"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	client := &x509.Certificate{
		Subject:     pkix.Name{CommonName: frontProxyName},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	caKey, caErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	clientKey, clientErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err := errors.Join(caErr, clientErr); err != nil {
		return err
	}
	for _, certificate := range []*x509.Certificate{ca, client} {
		certificate.NotBefore = time.Now().Add(-time.Hour)
		certificate.NotAfter = time.Now().AddDate(10, 0, 0)
	}
	caDER, caErr := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	clientDER, clientErr := x509.CreateCertificate(rand.Reader, client, ca, clientKey.Public(), caKey)
	keyDER, keyErr := x509.MarshalPKCS8PrivateKey(clientKey)
	if err := errors.Join(caErr, clientErr, keyErr); err != nil {
		return fmt.Errorf("certificates of the front proxy: %w", err)
	}
	if err := os.MkdirAll(c.frontProxy(), 0o700); err != nil {
		return err
	}
	for file, block := range map[string]*pem.Block{
		"ca.crt":     {Type: "CERTIFICATE", Bytes: caDER},
		"client.crt": {Type: "CERTIFICATE", Bytes: clientDER},
		"client.key": {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(filepath.Join(c.frontProxy(), file), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// frontProxyArgs are the flags of kube-apiserver, as kwokctl's YAML: what it publishes about
// the front proxy in the ConfigMap extension-apiserver-authentication, and the certificate
// that it shows. kwokctl gives the last two another value, which override replaces. It drops
// an override of what it does not give.
func (c *cluster) frontProxyArgs() string {
	return fmt.Sprintf(`  - key: requestheader-client-ca-file
    value: "%[1]s/ca.crt"
  - key: requestheader-allowed-names
    value: %[2]s
  - key: requestheader-username-headers
    value: X-Remote-User
  - key: requestheader-group-headers
    value: X-Remote-Group
  - key: requestheader-uid-headers
    value: X-Remote-Uid
  - key: requestheader-extra-headers-prefix
    value: X-Remote-Extra-
  - key: proxy-client-cert-file
    value: "%[1]s/client.crt"
    override: true
  - key: proxy-client-key-file
    value: "%[1]s/client.key"
    override: true
`, c.frontProxy(), frontProxyName)
}
