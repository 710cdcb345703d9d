package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/internal/testkit/plane"
)

// The edits fit the sample-controller that go.mod names, and change what they are
// meant to.
func TestTuningFitsTheModule(t *testing.T) {
	dir, err := plane.Go(t.Context(), "list", "-m", "-f", "{{.Dir}}", "k8s.io/sample-controller")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	tuned, err := tune(string(source), tuning)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cfg.QPS = -1\n", "controller.Run(ctx, 16)"} {
		if strings.Contains(string(source), want) || strings.Count(tuned, want) != 1 {
			t.Errorf("%q must be in the tuned file once, and not in the original", want)
		}
	}
	if got, want := strings.Count(tuned, "\n"), strings.Count(string(source), "\n")+1; got != want {
		t.Errorf("the tuned file has %d lines, want %d: the original's and one more", got, want)
	}
}

// A line that is absent, or says more, is not edited.
func TestTuneRefuses(t *testing.T) {
	if tuned, err := tune("\tone() // first\n", []edit{{"\tone()", "\tuno()"}}); err == nil || !strings.Contains(err.Error(), "one()") {
		t.Errorf("tune: %q, %v; want an error that names the line", tuned, err)
	}
}
