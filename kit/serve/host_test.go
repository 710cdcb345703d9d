package serve_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/byhand/kit/serve"
)

// OwnHost rejects foreign names and addresses. The port may be any.
func TestOwnHost(t *testing.T) {
	const loopback, one, every = "127.0.0.1", "192.0.2.1", "0.0.0.0"
	for _, test := range []struct {
		bound, host string
		own         bool
	}{
		{loopback, "127.0.0.1:8080", true},
		{loopback, "LocalHost:9999", true},
		{loopback, "[::1]:8080", true},
		{loopback, "rebound.example:8080", false},
		{loopback, "localhost.example:8080", false},
		{loopback, "127.0.0.1.nip.io:8080", false},
		{loopback, "", false},
		{one, "192.0.2.1:8080", true},
		{one, "localhost:9999", true}, // Through a tunnel.
		{every, "192.168.1.7:9999", true},
		{every, "rebound.example:8080", false},
	} {
		bound := &net.TCPAddr{IP: net.ParseIP(test.bound), Port: 8080}
		request, response := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		request.Host = test.host
		serve.OwnHost(bound, says("ok")).ServeHTTP(response, request)
		code, body := http.StatusOK, "ok"
		if !test.own {
			code, body = http.StatusMisdirectedRequest, "http://"+serve.Reachable(bound)+"/"
		}
		if response.Code != code || !strings.Contains(response.Body.String(), body) {
			t.Errorf("bound to %s, Host %q: %d %q, want %d %q", test.bound, test.host, response.Code, response.Body, code, body)
		}
	}
}
