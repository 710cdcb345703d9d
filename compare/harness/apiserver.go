package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// apiServer runs the measurement of chapters/apiserver and takes over what it prints, which is in
// the Go benchmark format.
func (b *bench) apiServer(ctx context.Context) (err error) {
	s, err := b.up(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Down()) }()
	cmd := exec.CommandContext(ctx, "go", "test", "-count=5", "-v", "-tags", "integration,bare", "-run", "^TestCost$", "./apiserver")
	cmd.Dir = filepath.Join(s.Home, "..", "chapters")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig, "PATH="+filepath.Join(s.Home, "bin")+":"+os.Getenv("PATH"))
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("chapters/apiserver: %w\n%s", err, output)
	}
	measured, err := readRaw(output)
	for _, result := range measured {
		err = errors.Join(err, b.write(string(result.Name), result.Iters, result.Values...))
	}
	return err
}
