package serve

import (
	"net"
	"net/http"

	"example.com/byhand/internal/listen"
)

// Listen takes the address, HOST:PORT, and returns a server of what Options say: see
// listen.Listen. Who reaches the address may ask.
func Listen(address string, o Options) (*listen.Server, error) {
	return listen.Listen(address, true, func(*net.TCPAddr) http.Handler { return Handler(o) })
}
