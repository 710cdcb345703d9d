package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// OwnHost hands a request on only if its Host names a server that is bound to that
// address, and answers 421 otherwise. Of names this is localhost alone: anybody can
// have one that resolves to 127.0.0.1, and a site of that name could read the answers
// in a browser on this machine. Of IP addresses it is the server's own, 127.0.0.1 and
// ::1, or any if it listens on every interface. The port may be any: a tunnel has its
// own.
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
