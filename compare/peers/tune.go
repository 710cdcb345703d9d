package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/byhand/internal/testkit/plane"
)

// sample is the package of sample-controller.
const sample = "k8s.io/sample-controller"

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

// alive is a file that each program has in addition: it says how much of its heap is alive.
const alive = "package main\n\nimport _ \"example.com/byhand/compare/peers/liveheap\"\n"

// compile builds the peer's program into a file: its package, with an overlay of what is edited
// and added.
func (p Peer) compile(ctx context.Context, file string) error {
	dir, err := plane.Go(ctx, "list", "-f", "{{.Dir}}", p.pkg)
	if err != nil {
		return err
	}
	pkg, replace := p.pkg, map[string]string{}
	if pkg == sample {
		source, err := os.ReadFile(filepath.Join(dir, "main.go"))
		if err != nil {
			return err
		}
		tuned, err := tune(string(source), p.edits)
		if err != nil {
			return fmt.Errorf("tune %s: %w", pkg, err)
		}
		// Go allows no overlay over the module cache, so the overlay is a folder of this module
		// that exists in it alone.
		own, err := plane.Go(ctx, "list", "-f", "{{.Dir}}", "example.com/byhand/compare/peers")
		if err := errors.Join(err, os.WriteFile(file+".main.go", []byte(tuned), 0o644)); err != nil {
			return err
		}
		controller := filepath.Join(dir, "controller.go")
		pkg, dir = "example.com/byhand/compare/peers/"+filepath.Base(file), filepath.Join(own, filepath.Base(file))
		replace[filepath.Join(dir, "controller.go")], replace[filepath.Join(dir, "main.go")] = controller, file+".main.go"
	}
	replace[filepath.Join(dir, "alive.go")] = file + ".alive.go"
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err := errors.Join(err, os.WriteFile(file+".alive.go", []byte(alive), 0o644), os.WriteFile(file+".overlay.json", overlay, 0o644)); err != nil {
		return err
	}
	_, err = plane.Go(ctx, "build", "-overlay", file+".overlay.json", "-o", file, pkg)
	return err
}
