package carry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// built is what go build makes of a form, and how long it takes.
type built struct {
	size, stripped  int64         // bytes
	clean, cleanCPU time.Duration // by the clock, and of all processors together
}

// build builds the program in several ways, below the folder into. dir is where the go
// command runs; "" is the working directory.
func (f form) build(ctx context.Context, dir, into string, clean bool) (built, error) {
	var b built
	program := filepath.Join(into, f.peer)
	build := func(env []string, flags ...string) (size int64, cpu time.Duration, err error) {
		args := append([]string{"build", "-o", program}, flags...)
		_, state, err := command(ctx, dir, env, append(args, f.main)...)
		if err != nil {
			return 0, 0, fmt.Errorf("build %s: %w", f.peer, err)
		}
		info, err := os.Stat(program)
		if err != nil {
			return 0, 0, err
		}
		// The compilers are children of the go command, and counted with it.
		return info.Size(), state.UserTime() + state.SystemTime(), nil
	}
	var err error
	if b.size, _, err = build(nil); err != nil {
		return b, err
	}
	if b.stripped, _, err = build(nil, "-ldflags=-s -w"); err != nil {
		return b, err
	}
	if !clean {
		return b, nil
	}
	// The sources are in the module cache by now, so that this is compiling alone.
	cache, err := os.MkdirTemp(into, "cache-")
	if err != nil {
		return b, err
	}
	begin := time.Now()
	if _, b.cleanCPU, err = build([]string{"GOCACHE=" + cache}); err != nil {
		return b, err
	}
	b.clean = time.Since(begin)
	return b, os.RemoveAll(cache)
}
