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

// section is a heading of the second level, and what stands below it.
type section struct {
	title string
	nodes []ast.Node
}

func parse(files fs.FS, file string) (*document, error) {
	source, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	context := parser.NewContext(parser.WithIDs(&headingIDs{used: map[string]int{}}))
	return &document{file, source, markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))}, nil
}

// sections divides a document at its headings of the second level. The introduction is
// what stands between the title and the first one. Above the title are the languages.
func (d *document) sections() (introduction []ast.Node, sections []section) {
	for _, n := range children(d.root) {
		heading, isHeading := n.(*ast.Heading)
		switch {
		case isHeading && heading.Level == 1:
			introduction = nil
		case isHeading && heading.Level == 2:
			sections = append(sections, section{plain(n, d.source), []ast.Node{n}})
		case len(sections) == 0:
			introduction = append(introduction, n)
		default:
			last := &sections[len(sections)-1]
			last.nodes = append(last.nodes, n)
		}
	}
	return introduction, sections
}

// title is the document's first heading.
func (d *document) title() string {
	for _, n := range children(d.root) {
		if n.Kind() == ast.KindHeading {
			return plain(n, d.source)
		}
	}
	return d.file
}

// html renders some of a document's nodes. What can be wider than a phone can be
// scrolled by keys, too.
func (d *document) html(nodes ...ast.Node) (template.HTML, error) {
	var b bytes.Buffer
	for _, n := range nodes {
		if err := markdown.Renderer().Render(&b, d.source, n); err != nil {
			return "", fmt.Errorf("%s: %w", d.file, err)
		}
	}
	return template.HTML(strings.NewReplacer(
		"<pre>", `<pre tabindex="0">`,
		"<table>", `<div class="broad" tabindex="0"><table>`,
		"</table>", "</table></div>",
	).Replace(b.String())), nil
}

// headingIDs names headings as GitHub does, where the README's links must work, too:
// letters of every language stay.
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

// plain is the text directly in a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for _, c := range children(n) {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	return b.String()
}

func children(n ast.Node) (all []ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		all = append(all, c)
	}
	return all
}

// walk calls visit for each node and what is in it; a link is visited as one.
func walk(nodes []ast.Node, visit func(ast.Node) error) error {
	for _, n := range nodes {
		err := ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			if err := visit(n); err != nil {
				return ast.WalkStop, err
			}
			if n.Kind() == ast.KindLink {
				return ast.WalkSkipChildren, nil
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
