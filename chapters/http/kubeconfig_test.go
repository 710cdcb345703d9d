package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/kit/testkit"
)

// kubeconfig writes a file.
func kubeconfig(t *testing.T, content string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// What it cannot read becomes one line that says how to get something that it can.
func TestKubeconfigsThatItCannotUse(t *testing.T) {
	const simple = "kubectl config view --raw --minify --flatten"
	for _, test := range []struct {
		reason, content string
		want            []string
	}{
		{"empty", "", []string{`no "server"`, simple}},
		{"two clusters", "- cluster:\n    server: https://one\n- cluster:\n    server: https://two\n", []string{`more than one "server"`, simple}},
		{"two users", "server: https://one\n- user:\n    token: a\n- user:\n    token: b\n", []string{`more than one "token"`, simple}},
		{"flow style", "clusters: [{cluster: {server: https://one}}]", []string{`no "server"`, simple}},
		{"a block", "server: https://one\ntoken: |\n  abc\n", []string{`"token"`, "not simple", simple}},
		{"an alias", "server: *one\n", []string{`"server"`, "not simple", simple}},
		{"a comment behind", "server: https://one # the first\n", []string{`"server"`, "not simple", simple}},
		{"a plug-in", "server: https://one\nusers:\n- user:\n    exec:\n      command: get-token\n", []string{`"exec"`, "kubectl create token"}},
		{"a password", "server: https://one\nusername: admin\npassword: secret\n", []string{`"username"`, "kubectl create token"}},
		{"no verification", "server: https://one\ninsecure-skip-tls-verify: true\n", []string{`"insecure-skip-tls-verify"`, "certificate authority"}},
		{"data that is no base64", "server: https://one\ncertificate-authority-data: '-'\n", []string{"certificate-authority", "base64"}},
		{"an authority that is none", "server: https://one\ncertificate-authority-data: aGVsbG8=\n", []string{"certificate-authority", "PEM"}},
		{"a file that is missing", "server: https://one\ncertificate-authority: ca.crt\n", []string{"certificate-authority", "ca.crt"}},
		{"a certificate without key", "server: https://one\nclient-certificate-data: aGVsbG8=\n", []string{"client-certificate and client-key"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			file := kubeconfig(t, test.content)
			_, _, _, err := connect(file)
			saysInOneLine(t, err, append(test.want, file)...)
		})
	}
}

// What kubectl writes, with the certificates in the file or beside it: it reaches a server
// that wants to know who we are.
func TestKubeconfigsThatItCanUse(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		if len(r.TLS.PeerCertificates) == 0 && r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()

	// The server's certificate vouches for itself, and for us.
	pair := server.TLS.Certificates[0]
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	keyBytes, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyBytes})

	for name, user := range map[string]clientcmdapi.AuthInfo{
		"certificate": {ClientCertificateData: certificate, ClientKeyData: key},
		"files":       {ClientCertificate: "crt", ClientKey: "key"},
		"token":       {Token: "secret"},
		"token file":  {TokenFile: "token"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := clientcmdapi.Cluster{Server: server.URL + "/", CertificateAuthorityData: certificate}
			file, err := testkit.WriteKubeconfig(t.TempDir(), cluster, user)
			if err != nil {
				t.Fatal(err)
			}
			for beside, content := range map[string][]byte{"crt": certificate, "key": key, "token": []byte("secret\n")} {
				if err := os.WriteFile(filepath.Join(filepath.Dir(file), beside), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			address, token, client, err := connect(file)
			if err != nil {
				t.Fatal(err)
			}
			c := newController(address, token, client, "", t.Output())
			if content, err := c.send(t.Context(), http.MethodGet, "", nil); err != nil || address != server.URL {
				t.Errorf("%s: %v", address, err)
			} else {
				content.Close()
			}
			// Another host would see the token.
			_, err = c.send(t.Context(), http.MethodGet, "/elsewhere", nil)
			if refused := (*refusal)(nil); !errors.As(err, &refused) || refused.Code != http.StatusFound {
				t.Errorf("a redirect is followed: %v", err)
			}
		})
	}

	t.Run("another authority", func(t *testing.T) {
		err := start(t.Context(), []string{"--kubeconfig", kubeconfig(t, "server: "+server.URL)})
		saysInOneLine(t, err, "x509", "check certificate-authority")
	})
}
