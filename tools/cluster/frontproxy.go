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
	"os"
	"path/filepath"
	"time"
)

// The API server is the front proxy when it passes a request on to an aggregated API server: it names the user
// in headers, and proves by a certificate that it may. kwokctl does not support this. Its API server shows the
// administrator's certificate and names no CA for it, so an aggregated server cannot authenticate users.
const frontProxyName = "front-proxy-client"

// frontProxy is the folder of its certificate.
func (c *cluster) frontProxy() string {
	return filepath.Join(c.home, "cluster", "state", c.name+".front-proxy")
}

// writeFrontProxy creates the certificate that the API server shows as the front proxy. It is self-signed: with
// a shared CA, any client with a certificate of that CA under the name above could impersonate any user.
func (c *cluster) writeFrontProxy() error {
	certificate := &x509.Certificate{
		Subject:     pkix.Name{CommonName: frontProxyName},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		NotBefore:   time.Now().Add(-time.Hour),
		NotAfter:    time.Now().AddDate(10, 0, 0),
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	certificateDER, err := x509.CreateCertificate(rand.Reader, certificate, certificate, key.Public(), key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(c.frontProxy(), 0o700),
		os.WriteFile(filepath.Join(c.frontProxy(), "client.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificateDER}), 0o600),
		os.WriteFile(filepath.Join(c.frontProxy(), "client.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
}

// frontProxyArgs returns flags of kube-apiserver, as kwokctl's YAML: for the ConfigMap
// extension-apiserver-authentication, which describes the front proxy, and for the certificate to show. kwokctl
// sets the last two, so they need override. kwokctl drops an override of a flag that it does not set.
func (c *cluster) frontProxyArgs() string {
	return fmt.Sprintf(`  - key: requestheader-client-ca-file
    value: "%[1]s/client.crt"
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
