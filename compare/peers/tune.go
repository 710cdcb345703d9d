package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// edit replaces one line of a source file.
type edit struct{ line, by string }

// tuning is all that distinguishes sample-controller-tuned. Without it the program
// sends at most 5 requests a second through each of its clients, client-go's default,
// and has two workers. The limiter of its queue stays: it delays only keys that
// failed.
var tuning = []edit{
	{"\tkubeClient, err := kubernetes.NewForConfig(cfg)", "\tcfg.QPS = -1\n\tkubeClient, err := kubernetes.NewForConfig(cfg)"},
	{"\tif err = controller.Run(ctx, 2); err != nil {", fmt.Sprintf("\tif err = controller.Run(ctx, %d); err != nil {", Workers)},
}

// tune makes the edits in a source file. It fails unless it finds each line, whole
// and once: a file that has changed must be read again by a person.
func tune(source string, edits []edit) (string, error) {
	lines := strings.Split(source, "\n")
	for _, e := range edits {
		found := 0
		for i, line := range lines {
			if line == e.line {
				lines[i] = e.by
				found++
			}
		}
		if found != 1 {
			return "", fmt.Errorf("the line %q is in the file %d times, want 1", strings.TrimSpace(e.line), found)
		}
	}
	return strings.Join(lines, "\n"), nil
}

// compileTuned builds sample-controller with the tuning. Go allows no overlay over the
// module cache, so the overlay is a folder of this module that exists in it alone: the
// edited main.go, and the module's other file as it is.
func compileTuned(ctx context.Context, file string) error {
	module, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", "k8s.io/sample-controller")
	if err != nil {
		return err
	}
	own, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", "example.com/byhand/compare")
	if err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(module, "main.go"))
	if err != nil {
		return fmt.Errorf("read sample-controller: %w", err)
	}
	tuned, err := tune(string(source), tuning)
	if err != nil {
		return fmt.Errorf("tune %s: %w", filepath.Join(module, "main.go"), err)
	}
	edited, overlay := file+".main.go", file+".overlay.json"
	virtual := filepath.Join(own, "peers", "sample-controller-tuned")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(virtual, "main.go"):       edited,
		filepath.Join(virtual, "controller.go"): filepath.Join(module, "controller.go"),
	}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(edited, []byte(tuned), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(overlay, replace, 0o644); err != nil {
		return err
	}
	_, err = goCommand(ctx, "build", "-overlay", overlay, "-o", file, "example.com/byhand/compare/peers/sample-controller-tuned")
	return err
}
