package carry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/byhand/compare/peers"
)

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

// count counts what the program consists of. dir is where the go command runs; "" is
// the working directory.
func (f form) count(ctx context.Context, dir string, into map[string]float64) error {
	output, err := peers.Go(ctx, "list", "-C", cmp.Or(dir, "."), "-deps", "-json=ImportPath,Dir,Standard,GoFiles,CgoFiles,Imports,Module", f.main)
	if err != nil {
		return err
	}
	for _, unit := range units {
		if strings.HasSuffix(unit.name, "-loc") {
			into[unit.name] = 0
		}
	}
	// A direct module has a package that the project imports.
	packages, direct, modules := map[string]string{}, map[string]bool{}, map[string]bool{}
	var imported []string
	for decoder := json.NewDecoder(strings.NewReader(output)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("packages of %s: %w", f.peer, err)
		}
		if p.Standard {
			continue
		}
		into["packages"]++
		own := slices.Contains(f.own, p.Module.Path)
		if own {
			imported = append(imported, p.Imports...)
		} else {
			packages[p.ImportPath], modules[p.Module.Path] = p.Module.Path, true
		}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			if err := countFile(p, name, own, into); err != nil {
				return err
			}
		}
	}
	for _, path := range imported {
		if module, ok := packages[path]; ok {
			direct[module] = true
		}
	}
	into["direct-modules"], into["indirect-modules"] = float64(len(direct)), float64(len(modules)-len(direct))
	return nil
}

// generatedComment is what https://go.dev/s/generatedcode asks of generators.
var generatedComment = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// countFile adds the lines of code of a file.
func countFile(p listed, name string, own bool, into map[string]float64) error {
	source, err := os.ReadFile(filepath.Join(p.Dir, name))
	if err != nil {
		return err
	}
	lines := float64(linesOfCode(source))
	switch {
	case !own:
		into["linked-loc"] += lines
		if p.Module.Path == frameworkModule {
			into["framework-loc"] += lines
		}
	case generatedComment.Match(source):
		into["generated-loc"] += lines
	case slices.Contains(strings.Split(p.ImportPath, "/"), "internal"):
		into["internal-loc"] += lines
	default:
		into["read-loc"] += lines
	}
	return nil
}

// linesOfCode counts the lines that are neither blank nor a comment.
func linesOfCode(source []byte) (n int) {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	for last := 0; ; {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && literal != ";" {
			continue // that of a newline
		}
		first := file.PositionFor(pos, false).Line
		end := first + strings.Count(literal, "\n")
		n += end - max(first-1, last)
		last = end
	}
}

// sizes builds the program below the folder into, as it is and without symbols.
func (f form) sizes(ctx context.Context, dir, into string, measured map[string]float64) error {
	program := filepath.Join(into, f.peer)
	for unit, flags := range map[string]string{"binary-B": "", "stripped-B": "-s -w"} {
		if _, err := peers.Go(ctx, "build", "-C", cmp.Or(dir, "."), "-o", program, "-ldflags="+flags, f.main); err != nil {
			return err
		}
		info, err := os.Stat(program)
		if err != nil {
			return err
		}
		measured[unit] = float64(info.Size())
	}
	return nil
}
