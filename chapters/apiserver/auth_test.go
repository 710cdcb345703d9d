package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// newCertificate returns a self-signed client certificate, and its PEM form.
func newCertificate(t *testing.T, name string) (*tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(text)
}

// trust returns the ConfigMap data in which the API server publishes its front proxy's identity.
func trust(authorities, names string) map[string]string {
	return map[string]string{"requestheader-client-ca-file": authorities, "requestheader-allowed-names": names}
}

// TestAuthenticate: only the front proxy is trusted. Any other client gets 401, whatever headers it sends.
// A code of 0 means that the connection is rejected.
func TestAuthenticate(t *testing.T) {
	frontProxy, authority := newCertificate(t, "front-proxy-client")
	another, itsAuthority := newCertificate(t, "kwok-admin")
	stranger, _ := newCertificate(t, "front-proxy-client")
	proxy, err := newFrontProxy(trust(authority+itsAuthority, `["front-proxy-client"]`))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.handler.authenticate = proxy.authenticate
	server := httptest.NewUnstartedServer(w.handler)
	server.TLS = &tls.Config{}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	proxy.check(server.TLS)
	server.StartTLS()
	t.Cleanup(server.Close)

	for _, test := range []struct {
		reason      string
		certificate *tls.Certificate
		user, path  string
		want        int
	}{
		{"the front proxy", frontProxy, "alice", collection, http.StatusOK},
		{"the front proxy, without a user", frontProxy, "", collection, http.StatusUnauthorized},
		{"another name", another, "admin", collection, http.StatusUnauthorized},
		{"another authority", stranger, "admin", collection, 0},
		{"forged headers", nil, "admin", collection, http.StatusUnauthorized},
		{"a watch", nil, "admin", collection + "?watch=true", http.StatusUnauthorized},
		{"discovery", nil, "admin", groupPath, http.StatusUnauthorized},
		{"a path without a handler", nil, "admin", "/", http.StatusUnauthorized},
	} {
		config := &tls.Config{InsecureSkipVerify: true}
		if test.certificate != nil {
			// Send the certificate, whichever CAs the server accepts.
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return test.certificate, nil }
		}
		transport := &http.Transport{TLSClientConfig: config}
		request, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Remote-User", test.user)
		got := 0
		if response, err := transport.RoundTrip(request); err == nil {
			got = response.StatusCode
			_ = response.Body.Close()
		}
		transport.CloseIdleConnections()
		if got != test.want {
			t.Errorf("%s: %d, want %d", test.reason, got, test.want)
		}
	}
}

type extra = map[string]authorizationv1.ExtraValue

// TestUser: the user arrives unchanged.
func TestUser(t *testing.T) {
	proxy := &frontProxy{names: []string{"front-proxy-client"}}
	verified := [][]*x509.Certificate{{{Subject: pkix.Name{CommonName: "front-proxy-client"}}}}
	for _, test := range []struct {
		reason string
		header http.Header
		want   user
	}{
		{"several groups, and an escaped key in upper case", http.Header{
			"X-Remote-User": {"alice"}, "X-Remote-Uid": {"42"}, "X-Remote-Group": {"cooks", "system:authenticated"},
			"X-Remote-Extra-Example.com%2fScopes": {"a", "b"},
		}, user{User: "alice", UID: "42", Groups: []string{"cooks", "system:authenticated"}, Extra: extra{"example.com/scopes": {"a", "b"}}}},
		{"the API server's own request, without groups", http.Header{"X-Remote-User": {"system:aggregator"}},
			user{User: "system:aggregator", Groups: []string{"system:authenticated"}, Extra: extra{}}},
		{"an anonymous user", http.Header{"X-Remote-User": {"system:anonymous"}, "X-Remote-Group": {"system:unauthenticated"}},
			user{User: "system:anonymous", Groups: []string{"system:unauthenticated"}, Extra: extra{}}},
	} {
		request := &http.Request{Header: test.header, TLS: &tls.ConnectionState{VerifiedChains: verified}}
		got, err := proxy.authenticate(request)
		if err != nil {
			t.Errorf("%s: %v", test.reason, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// TestReview: a request is served only if the review allows it. Otherwise, or if the review fails, it is
// rejected with a reason.
func TestReview(t *testing.T) {
	for _, test := range []struct {
		status string
		code   int
		want   string
	}{
		{`{"allowed":true}`, 200, ""},
		{`{"allowed":true,"denied":true}`, 403, "does not allow it"},
		{`{"allowed":false}`, 403, `user "admin" cannot GET`},
		{`{"allowed":false,"reason":"not today"}`, 403, "not today"},
		{`{"allowed":false,"evaluationError":"no such role"}`, 403, "no such role"},
		{"", 500, "ask whether admin may do this"},
	} {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":%s}`, test.status)
		}))
		defer api.Close()
		w := newWorld(t)
		w.handler.authorize = reviewer{kubernetes.NewForConfigOrDie(&rest.Config{Host: api.URL})}.authorize
		if code, message := w.do("GET", collection, ""); code != test.code || !strings.Contains(message, test.want) {
			t.Errorf("%q: %d %s, want %d and %q", test.status, code, message, test.code, test.want)
		}
	}
}

// TestTrust: for a cluster that publishes no identity, the error gives advice.
func TestTrust(t *testing.T) {
	_, authority := newCertificate(t, "front-proxy-client")
	for want, data := range map[string]map[string]string{
		"recreate the cluster": trust("nonsense", `["front-proxy-client"]`),
		"must list names":      trust(authority, "[]"),
	} {
		if _, err := newFrontProxy(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
