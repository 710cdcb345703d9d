package page

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"example.com/byhand/internal/listen"
	"example.com/byhand/internal/observer"
)

// Options says what the page is about. The zero value shows a live program to this
// machine alone.
type Options struct {
	// Remote allows an address that other machines can reach.
	Remote bool
	// Recording is the name of the recording that the source replays. "" says that it is
	// live.
	Recording string
	// Notice is said at the top of the page, "" for nothing.
	Notice string
}

// Listen takes the address, HOST:PORT, and returns a server of the page: see
// listen.Listen. An address that is not loopback is an error unless Options allow
// it. An error says what to do about it.
func Listen(address string, source *observer.Observer, o Options) (*listen.Server, error) {
	server, err := listen.Listen(address, o.Remote, func(bound *net.TCPAddr) http.Handler {
		return handler(bound, source, o)
	})
	if errors.Is(err, listen.ErrRemote) {
		return nil, fmt.Errorf("%w; give 127.0.0.1:PORT, or say --page-remote if they may", err)
	}
	if err != nil {
		return nil, err
	}
	server.URL += "/"
	return server, nil
}
