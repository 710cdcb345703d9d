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

// sample is the package of sample-controller.
const sample = "k8s.io/sample-controller"

// edit replaces one line of a source file.
type edit struct{ line, by string }

// tuning is all that distinguishes sample-controller-tuned. Without it the program
// sends at most 5 requests a second through each of its clients, client-go's default,
// and has two workers. The limiter of its queue stays: it delays only keys that
// failed.
var tuning = []edit{
	{"\tkubeClient, err := kubernetes.NewForConfig(cfg)", "\tcfg.QPS, cfg.DisableCompression = -1, true\n\tkubeClient, err := kubernetes.NewForConfig(cfg)"},
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

// tuned is the content of a source file with the edits made.
func tuned(name string, edits []edit) (string, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	text, err := tune(string(source), edits)
	if err != nil {
		return "", fmt.Errorf("tune %s: %w", name, err)
	}
	return text, nil
}

// compile builds the peer's program into a file: its package as it is, or with an
// overlay of what was edited and added.
func (p Peer) compile(ctx context.Context, file string) error {
	if p.edits == nil && p.more == nil {
		_, err := Go(ctx, "build", "-o", file, p.pkg)
		return err
	}
	module, err := Go(ctx, "list", "-f", "{{.Dir}}", p.pkg)
	if err != nil {
		return err
	}
	pkg, dir, replace := p.pkg, module, map[string]string{}
	files := map[string]string{}
	maps.Copy(files, p.more)
	if p.edits != nil || pkg == sample {
		if files["main.go"], err = tuned(filepath.Join(module, "main.go"), p.edits); err != nil {
			return err
		}
	}
	if pkg == sample {
		// Go allows no overlay over the module cache, so this one is a folder of this module
		// that exists in it alone.
		own, err := Go(ctx, "list", "-f", "{{.Dir}}", "example.com/byhand/compare/peers")
		if err != nil {
			return err
		}
		pkg, dir = "example.com/byhand/compare/peers/"+filepath.Base(file), filepath.Join(own, filepath.Base(file))
		replace[filepath.Join(dir, "controller.go")] = filepath.Join(module, "controller.go")
	}
	for name, content := range files {
		replace[filepath.Join(dir, name)] = file + "." + name
		if err := os.WriteFile(file+"."+name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".overlay.json", overlay, 0o644); err != nil {
		return err
	}
	_, err = Go(ctx, "build", "-overlay", file+".overlay.json", "-o", file, pkg)
	return err
}
