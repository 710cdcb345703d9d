package main

import (
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// html renders a node of a document for a page. Its links become links of the site; a link to a file
// without a page leads to the repository, or becomes plain text. The images are copied.
func (b *builder) html(at string, d *document, n ast.Node) (template.HTML, error) {
	for _, image := range all[*ast.Image](n) {
		file := path.Join(path.Dir(d.file), string(image.Destination))
		content, err := fs.ReadFile(b.files, file)
		if err != nil {
			return "", err
		}
		b.out[file] = content
		image.Destination = []byte(relative(at, file))
	}
	for _, link := range links(n) {
		if href := b.href(at, d, string(link.Destination)); href != "" {
			link.Destination = []byte(href)
		} else {
			unwrap(link)
		}
	}
	return d.html(n)
}

// href returns the target of a document's link on a page, "" for none.
func (b *builder) href(at string, d *document, link string) string {
	to, err := url.Parse(link)
	if err != nil || to.Scheme != "" {
		return link
	}
	file := d.file
	if to.Path != "" {
		file = path.Join(path.Dir(d.file), to.Path)
	}
	for _, target := range append([]string{file}, b.targets(file)...) {
		if _, found := b.found[target]; found {
			to.Path = relative(at, pageOf(target))
			return to.String()
		}
	}
	return b.repository(file)
}

// repository returns the public URL of a file, "" for none.
func (b *builder) repository(file string) string {
	if b.source == "" || file == "" {
		return ""
	}
	return strings.TrimSuffix(b.source, "/") + "/" + file
}

// relative returns the link from one page to another file of the site.
func relative(from, to string) string {
	link, _ := filepath.Rel(path.Dir(from), to) // Both are below the top of the site.
	return filepath.ToSlash(link)
}

func unwrap(link *ast.Link) {
	parent := link.Parent()
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child)
	}
	parent.RemoveChild(parent, link)
}
