package listen_test

import (
	"net"
	"testing"

	"example.com/byhand/internal/listen"
)

func TestReachable(t *testing.T) {
	for _, test := range []struct{ reason, host, want string }{
		{"loopback", "127.0.0.1", "127.0.0.1:8080"},
		{"loopback, IPv6", "::1", "[::1]:8080"},
		{"every interface", "::", "localhost:8080"},
		{"every interface, IPv4", "0.0.0.0", "localhost:8080"},
		{"one interface", "192.0.2.1", "192.0.2.1:8080"},
	} {
		if got := listen.Reachable(&net.TCPAddr{IP: net.ParseIP(test.host), Port: 8080}); got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}
