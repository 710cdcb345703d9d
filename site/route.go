package main

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// route is the reading path: the files that the README tells people to read, in its
// order.
type route struct {
	files fs.FS
	stops []string
	// folder is that of the last link: the README names the files beside it without one.
	folder string
}

// follow adds the files that a document links, and those of the documents among them.
func (r *route) follow(d *document, nodes []ast.Node) error {
	return walk(nodes, func(n ast.Node) error {
		switch n := n.(type) {
		case *ast.Link:
			target, _, _ := strings.Cut(string(n.Destination), "#")
			if target == "" || strings.Contains(target, ":") {
				return nil
			}
			return r.visit(d, path.Join(path.Dir(d.file), target))
		case *ast.CodeSpan:
			name := plain(n, d.source)
			if file := path.Join(r.folder, name); d.file == readme && strings.HasSuffix(name, ".go") && r.exists(file) {
				r.add(file)
			}
		}
		return nil
	})
}

// visit adds a file or the sources in a folder. A chapter's README leads on to the
// chapter's files, and no further.
func (r *route) visit(from *document, file string) error {
	if from.file != readme && !strings.HasPrefix(file, path.Dir(from.file)+"/") {
		return nil
	}
	entries, err := fs.ReadDir(r.files, file)
	if err == nil {
		r.folder = file
		r.addFolder(entries)
		return nil
	}
	if !r.exists(file) || slices.Contains(r.stops, file) {
		return nil
	}
	r.folder = path.Dir(file)
	switch path.Ext(file) {
	case ".md":
	case ".go", ".yaml", ".sh":
		r.add(file)
		return nil
	default:
		return nil // nothing to read line by line
	}
	r.stops = append(r.stops, file)
	d, err := parse(r.files, file)
	if err != nil {
		return err
	}
	return r.follow(d, children(d.root))
}

// addFolder adds the sources of a package, types first.
func (r *route) addFolder(entries []fs.DirEntry) {
	for _, name := range []string{"types.go", "deepcopy.go", "register.go"} {
		if file := path.Join(r.folder, name); r.exists(file) {
			r.add(file)
		}
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			r.add(path.Join(r.folder, name))
		}
	}
}

// add adds a file, and before the first one of a package its doc.go.
func (r *route) add(file string) {
	if doc := path.Join(path.Dir(file), "doc.go"); path.Ext(file) == ".go" && r.exists(doc) && !slices.Contains(r.stops, doc) {
		r.stops = append(r.stops, doc)
	}
	if !slices.Contains(r.stops, file) {
		r.stops = append(r.stops, file)
	}
}

func (r *route) exists(file string) bool {
	info, err := fs.Stat(r.files, file)
	return err == nil && info.Mode().IsRegular()
}
