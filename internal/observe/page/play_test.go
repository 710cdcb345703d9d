package page_test

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/internal/observe/page"
)

// A file without steps, or a truncated one, is rejected with a one-line error. TestRecordingMistakes in package
// trace has other errors of a recording.
func TestPlayOfBrokenFiles(t *testing.T) {
	const step = `{"seq":1,"time":"2026-01-01T00:00:00Z","part":"store","what":"added","kind":"Foo","key":"default/foo"}` + "\n"
	for text, want := range map[string]string{"": "the recording is empty", step + `{"seq":2`: "line 2 of the recording"} {
		file := filepath.Join(t.TempDir(), "steps.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := page.Play(log.New(io.Discard, "", 0), file, "127.0.0.1:0", false); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--trace=json") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
