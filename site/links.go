package main

import (
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// relink turns the links of a document into links of the page that it becomes. A link
// to a file that has no page here becomes plain text.
func (e *edition) relink(at string, d *document, nodes []ast.Node) error {
	// First found, then changed: a walk does not survive a change.
	var links []*ast.Link
	err := walk(nodes, func(n ast.Node) error {
		switch n := n.(type) {
		case *ast.Link:
			links = append(links, n)
		case *ast.Image:
			image := path.Join(path.Dir(d.file), string(n.Destination))
			content, err := fs.ReadFile(e.files, image)
			if err != nil {
				return err
			}
			e.out[image] = content
			n.Destination = []byte(relative(at, image))
		}
		return nil
	})
	for _, link := range links {
		if href := e.href(at, d, string(link.Destination)); href != "" {
			link.Destination = []byte(href)
		} else {
			unwrap(link)
		}
	}
	return err
}

// href is where a link of a document leads on the page, "" for nowhere.
func (e *edition) href(at string, d *document, link string) string {
	to, err := url.Parse(link)
	if err != nil || to.Scheme != "" {
		return link
	}
	file := d.file
	if to.Path != "" {
		file = path.Join(path.Dir(d.file), to.Path)
	}
	page, found := e.pageOf(file, to.Fragment)
	switch {
	case found && to.Fragment != "":
		return relative(at, page) + "#" + to.EscapedFragment()
	case found:
		return relative(at, page)
	}
	return e.Repository(file)
}

// pageOf is the page of a file, of the section of the README with that id, or of the
// first file of the reading path in a folder.
func (e *edition) pageOf(file, id string) (page string, found bool) {
	if page, found = e.anchors[id]; found && file == e.readme.file {
		return page, true
	}
	if page, found = e.pages[file]; found {
		return page, true
	}
	for _, stop := range e.route {
		if strings.HasPrefix(stop, file+"/") {
			return e.pages[stop], true
		}
	}
	return "", false
}

// relative is the link from one page to another file of the site.
func relative(from, to string) string {
	link, err := filepath.Rel(path.Dir(from), to)
	if err != nil {
		return to // both are below the top of the site
	}
	return filepath.ToSlash(link)
}

// named are the files that a comment may name.
var named = regexp.MustCompile(`[\w./-]+\.(go|yaml|md)\b`)

// linkNames makes links of the files that a comment names, from its own folder or from the
// top.
func (e *edition) linkNames(at, folder string, comment template.HTML) template.HTML {
	return template.HTML(named.ReplaceAllStringFunc(string(comment), func(name string) string {
		for _, file := range []string{path.Join(folder, name), name} {
			if page := e.pages[file]; page != "" && page != at {
				return `<a href="` + template.HTMLEscapeString(relative(at, page)) + `">` + name + `</a>`
			}
		}
		return name
	}))
}

func unwrap(link *ast.Link) {
	parent := link.Parent()
	for _, child := range children(link) {
		parent.InsertBefore(parent, link, child)
	}
	parent.RemoveChild(parent, link)
}
