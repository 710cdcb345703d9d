package page

import (
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/serve"
)

// Options configure the page. The zero value shows a live program to this machine only.
type Options struct {
	// Remote allows an address that other machines can reach.
	Remote bool
	// Recording is the name of the replayed recording, "" for a live program.
	Recording string
	// Outside says that only the program's requests and their responses are known.
	Outside bool
	// Shell is the command to enter in a second terminal before kubectl.
	Shell string
}

// Listen listens on the address, HOST:PORT, and returns a server of the page: see serve.Listen. Without
// Options.Remote, an address other than loopback is an error. Errors say what to do.
func Listen(address string, source *trace.History, o Options) (*serve.Server, error) {
	server, err := serve.Listen(address, o.Remote, func(bound *net.TCPAddr) http.Handler {
		return handler(bound, source, o)
	})
	if errors.Is(err, serve.ErrRemote) {
		return nil, fmt.Errorf("%w; give 127.0.0.1:PORT, or say --page-remote if they may", err)
	}
	if err != nil {
		return nil, err
	}
	server.URL += "/"
	return server, nil
}

// Play returns a server that shows the recording in file at address: see Listen. It logs the page's URL
// to say.
func Play(say *log.Logger, file, address string, remote bool) (*serve.Server, error) {
	recording, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer recording.Close()
	steps, err := trace.ReadRecording(recording)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: make one with --trace=json", file, err)
	}
	server, err := Listen(address, trace.Replay(steps...), Options{Remote: remote, Recording: filepath.Base(file),
		Outside: !slices.ContainsFunc(steps, func(step trace.Step) bool { return step.Part == trace.PartStore })})
	if err != nil {
		return nil, fmt.Errorf("--page: %w", err)
	}
	say.Printf("%d steps of %s, in a browser: %s (Ctrl-C stops)", len(steps), file, server.URL)
	return server, nil
}
