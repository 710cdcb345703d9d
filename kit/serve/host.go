package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// OwnHost passes a request on only if its Host names a server that is bound to that address. Otherwise it
// answers 421. The only accepted name is localhost: anyone can have a name that resolves to 127.0.0.1, and a
// website of that name could read the responses in a browser on this machine. Accepted IP addresses are the
// server's address, 127.0.0.1 and ::1, or any if it listens on every interface. Any port is accepted: a tunnel
// has a different one.
func OwnHost(bound *net.TCPAddr, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		ip := net.ParseIP(host)
		switch {
		case strings.EqualFold(host, "localhost"), host == "127.0.0.1", host == "::1",
			ip != nil && (bound.IP.IsUnspecified() || bound.IP.Equal(ip)):
			next.ServeHTTP(w, r)
		default:
			http.Error(w, fmt.Sprintf("%q is not this server's host: ask http://%s/", r.Host, Reachable(bound)), http.StatusMisdirectedRequest)
		}
	})
}
