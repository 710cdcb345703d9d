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

// Options says what the page is about. The zero value shows a live program to this
// machine alone.
type Options struct {
	// Remote allows an address that other machines can reach.
	Remote bool
	// Recording is the name of the recording that the source replays. "" says that it is
	// live.
	Recording string
	// Outside says that the program is seen from outside: only its requests and what comes back.
	Outside bool
	// Notice is said at the top of the page, "" for nothing.
	Notice string
	// Shell is what to type in a second terminal before kubectl: see connect.Shell.
	Shell string
}

// Listen takes the address, HOST:PORT, and returns a server of the page: see
// serve.Listen. An address that is not loopback is an error unless Options allow
// it. An error says what to do about it.
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

// Play returns a server that shows the recording in file at address: see Listen. say hears
// the page's URL, and what is wrong with a recording that is cut off or malformed: what
// stands before that is shown.
func Play(say *log.Logger, file, address string, remote bool) (*serve.Server, error) {
	recording, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer recording.Close()
	steps, err := trace.ReadRecording(recording)
	notice := ""
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s: %w: make one with --trace=json", file, err)
	}
	if err != nil {
		notice = fmt.Sprintf("%v; what stands before it is shown", err)
		say.Printf("%s: %s", file, notice)
	}
	server, err := Listen(address, trace.Replay(steps...), Options{Remote: remote, Recording: filepath.Base(file), Notice: notice,
		Outside: !slices.ContainsFunc(steps, func(step trace.Step) bool { return step.Part == trace.PartStore })})
	if err != nil {
		return nil, fmt.Errorf("--page: %w", err)
	}
	say.Printf("%d steps of %s, in a browser: %s (Ctrl-C stops)", len(steps), file, server.URL)
	return server, nil
}
