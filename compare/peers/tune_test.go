package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The edits fit the sample-controller that go.mod names, and change what they are
// meant to.
func TestTuningFitsTheModule(t *testing.T) {
	dir, err := Go(t.Context(), "list", "-m", "-f", "{{.Dir}}", "k8s.io/sample-controller")
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
	for _, want := range []string{"cfg.QPS, cfg.DisableCompression = -1, true\n", "controller.Run(ctx, 16)"} {
		if strings.Contains(string(source), want) || strings.Count(tuned, want) != 1 {
			t.Errorf("%q must be in the tuned file once, and not in the original", want)
		}
	}
	if got, want := strings.Count(tuned, "\n"), strings.Count(string(source), "\n")+1; got != want {
		t.Errorf("the tuned file has %d lines, want %d: the original's and one more", got, want)
	}
}

func TestTuneRefuses(t *testing.T) {
	edits := []edit{{"\tone()", "\tuno()"}, {"\ttwo()", "\tdue()"}}
	for name, test := range map[string]struct{ source, missed string }{
		"a line that is absent":          {"\tone()\n", "two()"},
		"a line that is there twice":     {"\tone()\n\ttwo()\n\tone()\n", "one()"},
		"a line that says more":          {"\tone() // first\n\ttwo()\n", "one()"},
		"a line that is indented deeper": {"\t\tone()\n\ttwo()\n", "one()"},
	} {
		t.Run(name, func(t *testing.T) {
			if tuned, err := tune(test.source, edits); err == nil || !strings.Contains(err.Error(), test.missed) {
				t.Errorf("tune: %q, %v; want an error that names %s", tuned, err, test.missed)
			}
		})
	}
	if tuned, err := tune("\tone()\n\ttwo()\n", edits); err != nil || tuned != "\tuno()\n\tdue()\n" {
		t.Errorf("tune: %q, %v", tuned, err)
	}
}
