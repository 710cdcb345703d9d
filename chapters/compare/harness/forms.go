package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"example.com/byhand/internal/run/plane"
)

type form struct {
	name, pkg string
	// edits are the changes in its source that make the work equal.
	edits []edit
	// args are its flags after --kubeconfig.
	args []string
}

// edit replaces a text, which must be in a file exactly once.
type edit struct{ file, before, after string }

const sample = "k8s.io/sample-controller"

// forms are in the order of the columns. Ratios divide the first one by each of the others.
var forms = []form{
	// By default it has 16 workers and no client-side rate limit.
	{name: "byhand", pkg: "example.com/byhand", edits: []edit{
		{"kit/events/events.go", "if limiter.TryAccept() {", "if false && limiter.TryAccept() {"},
	}},
	// As shipped it has 2 workers and client-go's limit of 5 requests a second.
	{name: "sample-controller", pkg: sample, edits: []edit{
		{"main.go", "kubeClient, err :=", "cfg.QPS = -1\n\tkubeClient, err :="},
		{"main.go", "controller.Run(ctx, 2)", "controller.Run(ctx, 16)"},
		{"controller.go", `eventBroadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kubeclientset.CoreV1().Events("")})`, "_ = typedcorev1.EventSinkImpl{}"},
	}},
	{name: "controller-runtime", pkg: "example.com/byhand/chapters/compare/framework", args: []string{
		"--workers=16", "--events=false", "--strip", "--read-your-writes", "--zap-devel=false", "--health-probe-bind-address=0",
	}},
}

// build compiles the program into dir. The working directory is in the module compare.
func (f form) build(ctx context.Context, dir string) error {
	source, err := plane.Go(ctx, "list", "-f", "{{.Dir}}", f.pkg)
	if err != nil {
		return err
	}
	target, pkg := source, f.pkg
	if pkg == sample {
		// Go rejects an overlay over the module cache. This folder exists only in the overlay.
		pkg = "./" + f.name
		if target, err = filepath.Abs(f.name); err != nil {
			return err
		}
	}
	replace := map[string]string{}
	for _, e := range f.edits {
		replaced, edited := filepath.Join(target, e.file), filepath.Join(dir, f.name+"-"+filepath.Base(e.file))
		// A second edit of a file adds to the first.
		if err := e.apply(cmp.Or(replace[replaced], filepath.Join(source, e.file)), edited); err != nil {
			return fmt.Errorf("edit %s of %s: %w", e.file, f.pkg, err)
		}
		replace[replaced] = edited
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	file := filepath.Join(dir, f.name+".json")
	if err := errors.Join(err, os.WriteFile(file, overlay, 0o644)); err != nil {
		return err
	}
	_, err = plane.Go(ctx, "build", "-overlay", file, "-o", filepath.Join(dir, f.name), pkg)
	return err
}

func (e edit) apply(from, to string) error {
	text, err := os.ReadFile(from)
	if n := strings.Count(string(text), e.before); err == nil && n != 1 {
		err = fmt.Errorf("%q is in the file %d times, want 1", e.before, n)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, []byte(strings.Replace(string(text), e.before, e.after, 1)), 0o644)
}

// command returns the process that reconciles the Foos of a cluster. It receives SIGTERM when ctx
// is done.
func (f form) command(ctx context.Context, dir, kubeconfig string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, f.name), append([]string{"--kubeconfig", kubeconfig}, f.args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
