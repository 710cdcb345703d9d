package carry

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// code is what a program is made of, see the package comment.
type code struct {
	read, internal, generated int
	direct, indirect          int
	packages, linked          int
	framework                 int // a part of linked
}

// frameworkModule takes the place of code that the other forms have themselves.
const frameworkModule = "sigs.k8s.io/controller-runtime"

// listed is what the go command says about one package.
type listed struct {
	ImportPath, Dir   string
	Standard          bool
	GoFiles, CgoFiles []string
	Imports           []string
	Module            *struct{ Path string }
}

// list counts what the program consists of. dir is where the go command runs; "" is
// the working directory.
func (f form) list(ctx context.Context, dir string) (code, error) {
	output, _, err := command(ctx, dir, nil, "list", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,CgoFiles,Imports,Module", f.main)
	if err != nil {
		return code{}, fmt.Errorf("packages of %s: %w", f.peer, err)
	}
	var c code
	moduleOf, imported := map[string]string{}, map[string]bool{}
	decoder := json.NewDecoder(strings.NewReader(output))
	for {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return code{}, fmt.Errorf("packages of %s: %w", f.peer, err)
		}
		if p.Standard {
			continue
		}
		if p.Module == nil {
			return code{}, fmt.Errorf("package %s of %s is in no module", p.ImportPath, f.peer)
		}
		c.packages++
		moduleOf[p.ImportPath] = p.Module.Path
		own := slices.Contains(f.own, p.Module.Path)
		if own {
			for _, path := range p.Imports {
				imported[path] = true
			}
		}
		if err := c.count(p, own); err != nil {
			return code{}, err
		}
	}
	c.direct, c.indirect = f.modules(moduleOf, imported)
	return c, nil
}

// modules counts the modules of others: direct ones have a package that the project
// imports.
func (f form) modules(moduleOf map[string]string, imported map[string]bool) (direct, indirect int) {
	isDirect := map[string]bool{}
	for path, module := range moduleOf {
		if !slices.Contains(f.own, module) {
			isDirect[module] = isDirect[module] || imported[path]
		}
	}
	for _, yes := range isDirect {
		if yes {
			direct++
		} else {
			indirect++
		}
	}
	return direct, indirect
}

// count adds the lines of a package.
func (c *code) count(p listed, own bool) error {
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		lines, generated, err := linesOf(filepath.Join(p.Dir, name))
		switch {
		case err != nil:
			return err
		case !own:
			c.linked += lines
			if p.Module.Path == frameworkModule {
				c.framework += lines
			}
		case generated:
			c.generated += lines
		case slices.Contains(strings.Split(p.ImportPath, "/"), "internal"):
			c.internal += lines
		default:
			c.read += lines
		}
	}
	return nil
}

// generatedComment is what https://go.dev/s/generatedcode asks of generators.
var generatedComment = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`)

// linesOf counts the lines of a file and says whether a generator wrote it.
func linesOf(file string) (lines int, generated bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = f.Close() }()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 16<<20) // embedded data makes long lines
	for scanner.Scan() {
		lines++
		generated = generated || generatedComment.Match(scanner.Bytes())
	}
	if err := scanner.Err(); err != nil {
		return 0, false, fmt.Errorf("count %s: %w", file, err)
	}
	return lines, generated, nil
}

// command runs the go command in dir and returns its output and what it used.
func command(ctx context.Context, dir string, env []string, args ...string) (string, *os.ProcessState, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	output, err := cmd.Output()
	if err != nil {
		return "", nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return string(output), cmd.ProcessState, nil
}
