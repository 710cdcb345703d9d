package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/internal/testkit/plane"
)

// The edits fit the sources that they are made in: each line is there, whole and once. Whether the
// result does its work, TestSameWork says, and for sample-controller each measurement.
func TestEditsFit(t *testing.T) {
	for _, peer := range All() {
		dir, err := plane.Go(t.Context(), "list", "-f", "{{.Dir}}", peer.pkg)
		if err != nil {
			t.Fatal(err)
		}
		for name, edits := range byFile(peer.edits) {
			source, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if tuned, err := tune(string(source), edits); err != nil || tuned == string(source) {
				t.Errorf("%s, %s: %v", peer.Name, name, err)
			}
		}
	}
}

// A line that is absent, or says more, is not edited.
func TestTuneRefuses(t *testing.T) {
	if tuned, err := tune("\tone() // first\n", []edit{{"main.go", "\tone()", "\tuno()"}}); err == nil || !strings.Contains(err.Error(), "one()") {
		t.Errorf("tune: %q, %v; want an error that names the line", tuned, err)
	}
}
