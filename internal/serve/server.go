package serve

import (
	"net"
	"net/http"

	"example.com/byhand/internal/listen"
)

// Listen takes the address, HOST:PORT, and returns a server of what Options say: see
// listen.Listen. Who reaches the address may ask: on loopback only as listen.OwnHost
// says, elsewhere by any Host, such as a Pod's address or a Service's name.
func Listen(address string, o Options) (*listen.Server, error) {
	return listen.Listen(address, true, func(bound *net.TCPAddr) http.Handler {
		if bound.IP.IsLoopback() {
			return listen.OwnHost(bound, Handler(o))
		}
		return Handler(o)
	})
}
