package page_test

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/internal/observe/page"
)

// play plays a file until its page is up, and returns the log.
func play(t *testing.T, file string) (string, error) {
	t.Helper()
	var said strings.Builder
	server, err := page.Play(log.New(&said, "", 0), file, "127.0.0.1:0", false)
	if err == nil {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = server.Run(ctx)
	}
	return said.String(), err
}

// A file without steps is rejected with a one-line error; a truncated one plays up to the error.
// TestRecordingMistakes in package trace has other errors of a recording.
func TestPlayOfBrokenFiles(t *testing.T) {
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "steps.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const step = `{"seq":1,"time":"2026-01-01T00:00:00Z","part":"store","what":"added","kind":"Foo","key":"default/foo"}` + "\n"
	for _, test := range []struct {
		reason, file string
		want         []string
		plays        bool
	}{
		{"missing", "/nowhere/steps.json", []string{"/nowhere/steps.json"}, false},
		{"empty", write(""), []string{"empty", "--trace=json"}, false},
		{"cut off", write(step + `{"seq":2`), []string{"line 2", "unexpected end", "1 steps"}, true},
	} {
		said, err := play(t, test.file)
		if (err == nil) != test.plays {
			t.Errorf("%s: error %v, and it should play: %t", test.reason, err, test.plays)
		}
		if err != nil {
			said += err.Error()
		}
		for _, want := range test.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q does not say %q", test.reason, said, want)
			}
		}
	}
}
