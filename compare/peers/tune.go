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

// edit replaces one line of a source file, which is named as its package sees it.
type edit struct{ file, line, by string }

// tuning is all that distinguishes sample-controller-tuned. Without it the program
// sends at most 5 requests a second through each of its clients, client-go's default,
// and has two workers. The limiter of its queue stays: it delays only keys that
// failed. The last three make its clock that of byhand: its caches are filled when its handler
// was called for each Foo, and it looks every 20 ms and not every 100 ms.
var tuning = []edit{
	{"main.go", "\tkubeClient, err := kubernetes.NewForConfig(cfg)", "\tcfg.QPS = -1\n\tkubeClient, err := kubernetes.NewForConfig(cfg)"},
	{"main.go", "\tif err = controller.Run(ctx, 2); err != nil {", fmt.Sprintf("\tif err = controller.Run(ctx, %d); err != nil {", Workers)},
	{"controller.go", "\tfooInformer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{", "\tfooHandler, _ := fooInformer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{"},
	{"controller.go", "\t// Set up an event handler for when Deployment resources change. This", "\tcontroller.foosSynced = fooHandler.HasSynced"},
	{"controller.go", "\tif ok := cache.WaitForCacheSync(ctx.Done(), c.deploymentsSynced, c.foosSynced); !ok {",
		"\tfor !c.deploymentsSynced() || !c.foosSynced() {\n\t\ttime.Sleep(20 * time.Millisecond)\n\t}\n\tif ctx.Err() != nil {"},
}

// silence is what distinguishes a program that sends no Events.
var (
	silence       = []edit{{"internal/events/events.go", "\tif r.accept(kind) {", "\tif false {"}}
	silenceSample = []edit{{"controller.go", "\teventBroadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kubeclientset.CoreV1().Events(\"\")})", "\t_ = typedcorev1.EventSinkImpl{}"}}
)

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
	pkg, at, replace := p.pkg, dir, map[string]string{}
	if pkg == sample {
		// Go allows no overlay over the module cache, so the overlay is a folder of this module
		// that exists in it alone.
		own, err := plane.Go(ctx, "list", "-f", "{{.Dir}}", "example.com/byhand/compare/peers")
		if err != nil {
			return err
		}
		pkg, at = "example.com/byhand/compare/peers/"+filepath.Base(file), filepath.Join(own, filepath.Base(file))
		for _, name := range []string{"controller.go", "main.go"} {
			replace[filepath.Join(at, name)] = filepath.Join(dir, name)
		}
	}
	for name, edits := range byFile(p.edits) {
		source, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		tuned, err := tune(string(source), edits)
		edited := file + "." + filepath.Base(name)
		if err := errors.Join(err, os.WriteFile(edited, []byte(tuned), 0o644)); err != nil {
			return fmt.Errorf("tune %s of %s: %w", name, p.pkg, err)
		}
		replace[filepath.Join(at, name)] = edited
	}
	replace[filepath.Join(at, "alive.go")] = file + ".alive.go"
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err := errors.Join(err, os.WriteFile(file+".alive.go", []byte(alive), 0o644), os.WriteFile(file+".overlay.json", overlay, 0o644)); err != nil {
		return err
	}
	_, err = plane.Go(ctx, "build", "-overlay", file+".overlay.json", "-o", file, pkg)
	return err
}

// byFile returns the edits of each file.
func byFile(edits []edit) map[string][]edit {
	files := map[string][]edit{}
	for _, e := range edits {
		files[e.file] = append(files[e.file], e)
	}
	return files
}
