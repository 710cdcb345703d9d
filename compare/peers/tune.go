package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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

// compileSample builds sample-controller from its module, as it is.
func compileSample(ctx context.Context, file string, more map[string]string) error {
	if len(more) == 0 {
		return compile("k8s.io/sample-controller")(ctx, file, nil)
	}
	return compileEdited(ctx, file, nil, more)
}

// compileTuned builds sample-controller with the tuning.
func compileTuned(ctx context.Context, file string, more map[string]string) error {
	return compileEdited(ctx, file, tuning, more)
}

// compileEdited builds sample-controller with edits of its main.go and with more files.
// Go allows no overlay over the module cache, so the overlay is a folder of this module
// that exists in it alone: the edited main.go, the module's other file as it is, and
// those files.
func compileEdited(ctx context.Context, file string, edits []edit, more map[string]string) error {
	module, err := directory(ctx, "k8s.io/sample-controller")
	if err != nil {
		return err
	}
	own, err := directory(ctx, "example.com/byhand/compare")
	if err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(module, "main.go"))
	if err != nil {
		return fmt.Errorf("read sample-controller: %w", err)
	}
	edited, err := tune(string(source), edits)
	if err != nil {
		return fmt.Errorf("tune %s: %w", filepath.Join(module, "main.go"), err)
	}
	other, err := os.ReadFile(filepath.Join(module, "controller.go"))
	if err != nil {
		return fmt.Errorf("read sample-controller: %w", err)
	}
	files := map[string]string{"main.go": edited, "controller.go": string(other)}
	maps.Copy(files, more)
	name := filepath.Base(file)
	return compileOverlay(ctx, file, "example.com/byhand/compare/peers/"+name, filepath.Join(own, "peers", name), files)
}

// compileOverlay builds a package as if its folder had these files, too: their names
// and what is in them.
func compileOverlay(ctx context.Context, file, pkg, dir string, files map[string]string) error {
	replace := map[string]string{}
	for name, content := range files {
		written := file + "." + name
		if err := os.WriteFile(written, []byte(content), 0o644); err != nil {
			return err
		}
		replace[filepath.Join(dir, name)] = written
	}
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := file + ".overlay.json"
	if err := os.WriteFile(overlay, content, 0o644); err != nil {
		return err
	}
	_, err = goCommand(ctx, "build", "-overlay", overlay, "-o", file, pkg)
	return err
}

// directory returns the folder of a package's sources.
func directory(ctx context.Context, pkg string) (string, error) {
	return goCommand(ctx, "list", "-f", "{{.Dir}}", pkg)
}
