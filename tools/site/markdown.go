package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// document is a Markdown file of the repository.
type document struct {
	file   string
	source []byte
	root   ast.Node
}

func parse(files fs.FS, file string) (*document, error) {
	source, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	context := parser.NewContext(parser.WithIDs(&headingIDs{used: map[string]int{}}))
	return &document{file, source, markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))}, nil
}

// section returns the nodes below a heading of the first or second level.
func (d *document) section(title string) (nodes []ast.Node) {
	inside := false
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		if heading, ok := n.(*ast.Heading); ok && heading.Level <= 2 {
			inside = plain(n, d.source) == title
		} else if inside {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// heading is a line of a table of contents.
type heading struct{ ID, Text string }

// longest is the number of sections up to which a page has no table of contents.
const longest = 3

// contents returns the headings of the second level, nil if there are only a few.
func (d *document) contents() (headings []heading) {
	for _, h := range all[*ast.Heading](d.root) {
		if id, found := h.AttributeString("id"); found && h.Level == 2 {
			headings = append(headings, heading{string(id.([]byte)), plain(h, d.source)})
		}
	}
	if len(headings) <= longest {
		return nil
	}
	return headings
}

// title returns the document's first heading.
func (d *document) title() string {
	for _, heading := range all[*ast.Heading](d.root) {
		return plain(heading, d.source)
	}
	return d.file
}

// html renders a node of a document. Blocks that can be wider than a phone can get the focus, so that
// keys scroll them.
func (d *document) html(n ast.Node) (template.HTML, error) {
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, d.source, n); err != nil {
		return "", fmt.Errorf("%s: %w", d.file, err)
	}
	return template.HTML(strings.NewReplacer(
		"<pre>", `<pre tabindex="0">`,
		"<table>", `<div class="broad" tabindex="0"><table>`,
		"</table>", "</table></div>",
	).Replace(b.String())), nil
}

// fold hides the text below each heading of the third level until a reader opens it.
func fold(body template.HTML) template.HTML {
	folded := strings.Builder{}
	for i, part := range strings.Split(string(body), "<h") {
		if i > 0 {
			part = "<h" + part
		}
		if question, answer, found := strings.Cut(part, "</h3>"); found {
			part = "<details><summary>" + question + "</h3></summary>" + answer + "</details>"
		}
		folded.WriteString(part)
	}
	return template.HTML(folded.String())
}

// headingIDs names headings as GitHub does, so that the README's links work in both places. Letters of
// any language stay.
type headingIDs struct{ used map[string]int }

func (h *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(value)))
	n := h.used[id]
	h.used[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

func (h *headingIDs) Put(value []byte) { h.used[string(value)]++ }

// plain returns the text directly in a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	return b.String()
}

// links returns the links in some nodes.
func links(nodes ...ast.Node) []*ast.Link { return all[*ast.Link](nodes...) }

// all returns the nodes of a type in others. You may change them in a loop, but not during ast.Walk.
func all[T ast.Node](nodes ...ast.Node) (found []T) {
	for _, n := range nodes {
		_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if n, ok := n.(T); ok && entering {
				found = append(found, n)
			}
			return ast.WalkContinue, nil
		})
	}
	return found
}
