package main

import (
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

// Code to read, modules to trust and update, a program to build and ship: what a reader of
// each form of the controller carries. All forms are counted by the same rules, with the go
// command and the sources that it compiles; nothing is listed by hand.
//
//   - A line of code is a line of a Go file that is compiled into the program and that
//     is neither blank nor a comment. Tests are not counted. Own lines belong to the
//     project's own modules, and fall into three parts: those that a generator wrote
//     (the file says so, in the words that Go's tools go by), those below an internal
//     folder, which serve the program beside its controller (metrics, leader election,
//     health, a page), and the rest: what there is to read from main to the typed client.
//   - A direct module is one from which a package of the project imports; an indirect
//     one is linked into the program because of others. A module that go.mod names and
//     the program does not contain is not counted.
//   - Framework lines are those of controller-runtime that are compiled into the
//     program: what does there the work that the other forms do in their own lines.
//   - Lines of other people leave out the standard library.

// carried are what is counted, and what it means.
var carried = []struct{ name, words string }{
	{"read-loc", "own lines of code, from main to the typed client"},
	{"internal-loc", "own lines of code beside the controller (internal/)"},
	{"generated-loc", "generated lines of code"},
	{"framework-loc", "lines of code of controller-runtime in the program"},
	{"linked-loc", "lines of code of other people in the program"},
	{"direct-modules", "modules that the project imports"},
	{"indirect-modules", "further modules in the program"},
	{"binary-B", "program, as go build makes it"},
}

// form is one of the programs: what to build, and which modules are the project's own.
type form struct {
	peer string
	main string // the import path of package main
	own  []string
}

var forms = []form{
	{peer: "byhand", main: "example.com/byhand", own: []string{"example.com/byhand"}},
	{peer: "sample-controller", main: "k8s.io/sample-controller", own: []string{"k8s.io/sample-controller"}},
	{peer: "controller-runtime", main: "example.com/byhand/compare/framework", own: []string{"example.com/byhand/compare", "example.com/byhand"}},
}

// carry counts what a reader of each form carries.
func (b *bench) carry(ctx context.Context) error {
	for _, f := range forms {
		counted := map[string]float64{}
		err := f.count(ctx, ".", counted)
		if err == nil {
			counted["binary-B"], err = f.size(ctx, b.dir)
		}
		if err != nil {
			return err
		}
		for _, unit := range carried {
			if err := b.raw.add("Carry/peer="+f.peer, 1, value(counted[unit.name], unit.name)); err != nil {
				return err
			}
		}
	}
	return nil
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

// count counts what the program consists of. dir is where the go command runs.
func (f form) count(ctx context.Context, dir string, into map[string]float64) error {
	output, err := peers.Go(ctx, "list", "-C", dir, "-deps", "-json=ImportPath,Dir,Standard,GoFiles,CgoFiles,Imports,Module", f.main)
	if err != nil {
		return err
	}
	for _, unit := range carried {
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

// size builds the program in the folder into, as go build makes it.
func (f form) size(ctx context.Context, into string) (float64, error) {
	program := filepath.Join(into, "carried-"+f.peer)
	if _, err := peers.Go(ctx, "build", "-o", program, f.main); err != nil {
		return 0, err
	}
	info, err := os.Stat(program)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}
