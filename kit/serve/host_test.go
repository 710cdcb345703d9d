package serve_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/byhand/kit/serve"
)

// The name protects from other sites, the port from nothing.
func TestOwnHost(t *testing.T) {
	const loopback, one, every = "127.0.0.1", "192.0.2.1", "0.0.0.0"
	for _, test := range []struct {
		reason, bound, host string
		own                 bool
	}{
		{"its address", loopback, "127.0.0.1:8080", true},
		{"localhost", loopback, "localhost:8080", true},
		{"localhost in other letters", loopback, "LocalHost:8080", true},
		{"localhost, IPv6", loopback, "[::1]:8080", true},
		{"HTTP's own port", loopback, "localhost", true},
		{"a name", loopback, "rebound.example:8080", false},
		{"a name that begins likewise", loopback, "localhost.example:8080", false},
		{"a name that resolves to it", loopback, "127.0.0.1.nip.io:8080", false},
		{"another loopback address", loopback, "127.0.0.2:8080", false},
		{"no host", loopback, "", false},
		{"its address", one, "192.0.2.1:8080", true},
		{"localhost, through a tunnel", one, "localhost:9999", true},
		{"an address of this machine", every, "192.168.1.7:9999", true},
		{"a name", every, "rebound.example:8080", false},
	} {
		bound := &net.TCPAddr{IP: net.ParseIP(test.bound), Port: 8080}
		request, answer := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		request.Host = test.host
		serve.OwnHost(bound, says("ok")).ServeHTTP(answer, request)
		own := answer.Code == http.StatusOK && answer.Body.String() == "ok"
		told := answer.Code == http.StatusMisdirectedRequest && strings.Contains(answer.Body.String(), "http://"+serve.Reachable(bound)+"/")
		if own != test.own || told == test.own {
			t.Errorf("bound to %s, Host %q, %s: %d %q, want own %t", test.bound, test.host, test.reason, answer.Code, answer.Body, test.own)
		}
	}
}
