package page

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/byhand/internal/observer"
)

// Play shows the recording in file at address until ctx is done. say hears the page's
// URL, and what is wrong with a recording that is cut off or malformed: what stands
// before that is shown. remote allows an address that other machines reach.
func Play(ctx context.Context, say *observer.Observer, file, address string, remote bool) error {
	recording, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("--replay: %w", err)
	}
	defer recording.Close()
	steps, err := observer.ReadRecording(recording)
	notice := ""
	if len(steps) == 0 {
		return fmt.Errorf("--replay %s: %w: make one with --trace=json", file, err)
	}
	if err != nil {
		notice = fmt.Sprintf("%v; what stands before it is shown", err)
		say.Program(observer.Said, "%s: %s", file, notice)
	}
	server, err := Listen(address, observer.Replay(steps...), Options{Remote: remote, Recording: filepath.Base(file), Notice: notice})
	if err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	say.Program(observer.Said, "%d steps of %s, in a browser: %s (Ctrl-C stops)", len(steps), file, server.URL)
	return server.Run(ctx)
}
