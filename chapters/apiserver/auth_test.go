package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// authority signs certificates.
type authority struct {
	*testing.T
	certificate *x509.Certificate
	key         crypto.Signer
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, key)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t, certificate, key}
}

// client issues a certificate for a client, with the authority's own key.
func (a *authority) client(name string, validity time.Duration, usage x509.ExtKeyUsage) *tls.Certificate {
	a.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(validity),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.key.Public(), a.key)
	if err != nil {
		a.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key, Leaf: leaf}
}

// trust is what the API server would publish about this authority.
func (a *authority) trust() map[string]string {
	return map[string]string{
		"requestheader-client-ca-file": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})),
		"requestheader-allowed-names":  `["front-proxy-client"]`,
	}
}

// Only the front proxy is believed. No other client gets an answer but 401, whatever the headers
// say. 0 is none: the connection itself is refused.
func TestAuthenticate(t *testing.T) {
	ca, other := newAuthority(t, "front-proxy-ca"), newAuthority(t, "front-proxy-ca")
	proxy, err := newFrontProxy(ca.trust())
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

	const name, client = "front-proxy-client", x509.ExtKeyUsageClientAuth
	for _, test := range []struct {
		reason      string
		certificate *tls.Certificate
		header      []string
		want        int
	}{
		{"the front proxy", ca.client(name, time.Hour, client), []string{"X-Remote-User", "alice"}, http.StatusOK},
		{"a direct call", nil, nil, http.StatusUnauthorized},
		{"forged headers", nil, []string{"X-Remote-User", "admin", "X-Remote-Group", "system:masters"}, http.StatusUnauthorized},
		{"forged headers with another certificate", other.client(name, time.Hour, client), []string{"X-Remote-User", "admin"}, 0},
		{"another name", ca.client("kwok-admin", time.Hour, client), []string{"X-Remote-User", "admin"}, http.StatusUnauthorized},
		{"expired", ca.client(name, -time.Hour, client), []string{"X-Remote-User", "admin"}, 0},
		{"the certificate of a server", ca.client(name, time.Hour, x509.ExtKeyUsageServerAuth), []string{"X-Remote-User", "admin"}, 0},
		{"the front proxy, without a user", ca.client(name, time.Hour, client), nil, http.StatusUnauthorized},
	} {
		t.Run(test.reason, func(t *testing.T) {
			config := &tls.Config{InsecureSkipVerify: true}
			if test.certificate != nil {
				// Whatever authority the server names.
				config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return test.certificate, nil }
			}
			transport := &http.Transport{TLSClientConfig: config}
			defer transport.CloseIdleConnections()
			for _, path := range []string{collection, collection + "?watch=true", "/openapi/v3", "/", "//apis", "/x/../apis"} {
				if test.want == http.StatusOK && !strings.HasPrefix(path, collection) && path != "/openapi/v3" {
					continue // There is nothing.
				}
				request, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(test.header); i += 2 {
					request.Header.Set(test.header[i], test.header[i+1])
				}
				response, err := transport.RoundTrip(request)
				if (err != nil) != (test.want == 0) {
					t.Fatalf("%s: %v, want %d", path, err, test.want)
				}
				if err != nil {
					continue
				}
				_ = response.Body.Close()
				if response.StatusCode != test.want {
					t.Errorf("%s: %d, want %d", path, response.StatusCode, test.want)
				}
			}
		})
	}
}

type extra = map[string]authorizationv1.ExtraValue

// What the front proxy says of a user arrives as it is.
func TestUser(t *testing.T) {
	ca := newAuthority(t, "front-proxy-ca")
	proxy, err := newFrontProxy(ca.trust())
	if err != nil {
		t.Fatal(err)
	}
	certificate := ca.client("front-proxy-client", time.Hour, x509.ExtKeyUsageClientAuth)
	for _, test := range []struct {
		reason string
		header http.Header
		want   user
	}{
		{"groups repeat, extra keys are escaped and have no case", http.Header{
			"X-Remote-User": {"alice"}, "X-Remote-Uid": {"42"}, "X-Remote-Group": {"cooks", "system:authenticated"},
			"X-Remote-Extra-Example.com%2fScopes": {"a", "b"},
		}, user{User: "alice", UID: "42", Groups: []string{"cooks", "system:authenticated"}, Extra: extra{"example.com/scopes": {"a", "b"}}}},
		{"the API server for itself, without groups", http.Header{"X-Remote-User": {"system:aggregator"}},
			user{User: "system:aggregator", Groups: []string{"system:authenticated"}, Extra: extra{}}},
		{"an anonymous user", http.Header{"X-Remote-User": {"system:anonymous"}, "X-Remote-Group": {"system:unauthenticated"}},
			user{User: "system:anonymous", Groups: []string{"system:unauthenticated"}, Extra: extra{}}},
	} {
		request := &http.Request{Header: test.header, TLS: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{certificate.Leaf}}}}
		got, err := proxy.authenticate(request)
		if err != nil {
			t.Errorf("%s: %v", test.reason, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// A request is served only if the API server's answer to the review is a clear yes. After any other answer,
// and after none, it is refused, and the client is told why.
func TestReview(t *testing.T) {
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		}
	}
	review := func(status string) http.HandlerFunc {
		return says(`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":` + status + "}")
	}
	for _, test := range []struct {
		reason string
		answer http.HandlerFunc
		code   int
		want   string
	}{
		{"yes", review(`{"allowed":true}`), 200, ""},
		{"no", review(`{"allowed":false}`), 403, `user "admin" cannot list`},
		{"no, with a reason", review(`{"allowed":false,"reason":"not today"}`), 403, "not today"},
		{"no, with an error", review(`{"allowed":false,"evaluationError":"no such role"}`), 403, "no such role"},
		{"yes and no", review(`{"allowed":true,"denied":true}`), 403, "does not allow it"},
		{"no status", says("{}"), 403, "does not allow it"},
		{"yes, in another kind", says(`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","status":{"allowed":true}}`), 403, "does not allow it"},
		{"no text", says(""), 500, "ask whether admin may do this: 0-length response"},
		{"a connection that breaks", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 500, "EOF"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			api := httptest.NewServer(test.answer)
			defer api.Close()
			w := newWorld(t)
			w.handler.authorize = reviewer{kubernetes.NewForConfigOrDie(&rest.Config{Host: api.URL})}.authorize
			if got := w.do("GET", collection, ""); got.code != test.code || !strings.Contains(got.message(), test.want) {
				t.Errorf("%d %s, want %d and %q", got.code, got.message(), test.code, test.want)
			}
		})
	}
}

// A cluster that does not say whom to trust is refused, with what to do.
func TestTrust(t *testing.T) {
	whole := newAuthority(t, "front-proxy-ca").trust()
	for _, test := range []struct{ key, value, want string }{
		{"requestheader-client-ca-file", "", "make the cluster anew"},
		{"requestheader-client-ca-file", "nonsense", "make the cluster anew"},
		{"requestheader-allowed-names", "[]", "must list names"},
		{"requestheader-allowed-names", "", "must list names"},
	} {
		data := maps.Clone(whole)
		data[test.key] = test.value
		if _, err := newFrontProxy(data); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s = %q: %v, want an error that says %q", test.key, test.value, err, test.want)
		}
	}
}
