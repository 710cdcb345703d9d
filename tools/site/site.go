package main

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed templates
var own embed.FS

const (
	home   = "index.html"
	readme = "README.md"
	// questions is the page with folded answers, chinese the folder of translations.
	questions, chinese = "docs/questions.md", "docs/zh-CN/"
	// orderSection is the section of the README whose links are the reading path.
	orderSection = "Read it in this order"
)

// menu are the pages in every page's menu.
var menu = []struct{ Title, Page, Lang string }{
	{"Try it", home, "en"},
	{"Read and run it", pageOf(readme), "en"},
	{"Questions", pageOf(questions), "en"},
	{"中文", pageOf(chinese + "README.md"), "zh-CN"},
}

// pageOf returns the page of a file of the repository.
func pageOf(file string) string { return "read/" + file + ".html" }

// builder makes the site.
type builder struct {
	files fs.FS
	// source is the public URL of the repository, "" for none.
	source string
	// URL is the site's URL, "" if unknown. The picture in a link preview needs an absolute URL.
	URL string
	// found are the files with a page; documents are not nil.
	found map[string]*document
	// Playground is the content of the playground.
	Playground playground
	// order is the reading path.
	order []string
	// out are the files of the site, by path.
	out map[string][]byte
}

// build returns the files of the site for the repository in root with the given files. It does not
// include the playground's program.
func build(root string, files fs.FS, source, url string) (map[string][]byte, error) {
	b, err := plan(files, source)
	if err != nil {
		return nil, err
	}
	b.URL = strings.TrimSuffix(url, "/")
	if b.Playground, err = readPlayground(files); err != nil {
		return nil, err
	}
	for file, d := range b.found {
		write := b.writeSource
		if d != nil {
			write = b.writeDocument
		}
		if err := write(file); err != nil {
			return nil, err
		}
	}
	for name, from := range map[string]string{
		"page.css":       pageFolder + "style.css",
		"icon.svg":       pageFolder + "icon.svg",
		"screenshot.png": "internal/observe/page/screenshot.png",
		"site.css":       "tools/site/static/site.css",
		"preview.png":    "tools/site/static/preview.png",
	} {
		if b.out[name], err = fs.ReadFile(files, from); err != nil {
			return nil, err
		}
	}
	if err := b.writePlayground(); err != nil {
		return nil, err
	}
	b.out["playground.js"], err = b.script(root)
	return b.out, err
}

// plan finds the files with a page, and the reading path.
func plan(files fs.FS, source string) (*builder, error) {
	b := &builder{files: files, source: source, found: map[string]*document{}, out: map[string][]byte{}}
	if err := b.find(readme); err != nil {
		return nil, err
	}
	for _, link := range links(b.found[readme].section(orderSection)...) {
		for _, file := range b.targets(string(link.Destination)) {
			if _, found := b.found[file]; found && !slices.Contains(b.order, file) {
				b.order = append(b.order, file)
			}
		}
	}
	return b, nil
}

// find gives a page to a file, and to all files that a document links. Only documents and sources get
// one.
func (b *builder) find(file string) error {
	if _, found := b.found[file]; found {
		return nil
	}
	switch path.Ext(file) {
	case ".go", ".yaml", ".sh":
		b.found[file] = nil
	case ".md":
		d, err := parse(b.files, file)
		if err != nil {
			return err
		}
		b.found[file] = d
		for _, link := range links(d.root) {
			target, _, _ := strings.Cut(string(link.Destination), "#")
			for _, next := range b.targets(path.Join(path.Dir(file), target)) {
				if err := b.find(next); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// targets returns the files behind a link. A file comes after its package's doc.go, unless it is a
// test; a folder gives its doc.go and type files.
func (b *builder) targets(linked string) (files []string) {
	names := []string{linked}
	if path.Ext(linked) == ".go" && !strings.HasSuffix(linked, "_test.go") {
		names = []string{path.Join(path.Dir(linked), "doc.go"), linked}
	}
	for _, name := range []string{"doc.go", "types.go", "deepcopy.go", "register.go"} {
		names = append(names, path.Join(linked, name))
	}
	for _, name := range names {
		if info, err := fs.Stat(b.files, name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files
}

// lead returns the first paragraph of the README, for the first page.
func (b *builder) lead() (template.HTML, error) {
	d, err := parse(b.files, readme)
	if err != nil {
		return "", err
	}
	paragraphs := d.section(d.title())
	if len(paragraphs) == 0 {
		return "", fmt.Errorf("%s has no paragraph below its title", readme)
	}
	return b.html(home, d, paragraphs[0])
}

// writeDocument renders a Markdown file.
func (b *builder) writeDocument(file string) error {
	d := b.found[file]
	body, err := b.html(pageOf(file), d, d.root)
	if err != nil {
		return err
	}
	lang := "en"
	if strings.HasPrefix(file, chinese) {
		lang = "zh-CN"
	}
	if path.Base(file) == path.Base(questions) {
		body = fold(body)
	}
	return b.put("document", page{builder: b, At: pageOf(file), Title: d.title(), Lang: lang, File: file, Body: body, Contents: d.contents()})
}

// writeSource renders a source file, with its comments next to the code.
func (b *builder) writeSource(file string) error {
	source, err := fs.ReadFile(b.files, file)
	if err != nil {
		return err
	}
	pairs, err := pairsOf(file, source)
	if err != nil {
		return err
	}
	return b.put("source", page{builder: b, At: pageOf(file), Title: file, File: file, Pairs: pairs})
}

// templates has a template for each kind of page, in the one layout.
var templates = map[string]*template.Template{}

func init() {
	for _, kind := range []string{"document", "source", "playground"} {
		layout := template.New("layout.html").Funcs(template.FuncMap{"breakable": breakable, "page": pageOf})
		templates[kind] = template.Must(layout.ParseFS(own, "templates/layout.html", "templates/"+kind+".html"))
	}
}

// breakable allows a line break after each slash of a path.
func breakable(file string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(file), "/", "/<wbr>"))
}

// page is the data of a template.
type page struct {
	*builder
	// At is the page's path from the root of the site.
	At, Title string
	// Lang is the language of a document.
	Lang string
	// Description is the text in a link preview.
	Description string
	// File is the page's file in the repository.
	File string
	// A document has a Body and perhaps Contents, a source has Pairs. The playground has a Stage, the
	// picture, and a Lead, the README's first paragraph.
	Body, Stage, Lead template.HTML
	Contents          []heading
	Pairs             []pair
}

// Lesson is the number of the lesson that shows the file at work, from 1, or 0.
func (p page) Lesson() int {
	for i, lesson := range p.Playground.Lessons {
		if lesson.Code == p.File {
			return i + 1
		}
	}
	return 0
}

// Place is the page's position on the reading path, from 1, or 0. Before and After are its neighbors
// there, "" for none.
func (p page) Place() int     { return slices.Index(p.order, p.File) + 1 }
func (p page) Of() int        { return len(p.order) }
func (p page) Before() string { return p.neighbour(-1) }
func (p page) After() string  { return p.neighbour(+1) }

func (p page) neighbour(by int) string {
	if i := p.Place() - 1 + by; i >= 0 && i < len(p.order) {
		return p.order[i]
	}
	return ""
}

// To returns a link to another page or file of the site.
func (p page) To(target string) string { return relative(p.At, target) }

// Repository returns the file's public URL, "" for none.
func (p page) Repository() string { return p.repository(p.File) }

// Menu returns the menu of every page.
func (p page) Menu() any { return menu }

// put renders a page.
func (b *builder) put(kind string, p page) error {
	var buffer bytes.Buffer
	if err := templates[kind].ExecuteTemplate(&buffer, "layout.html", p); err != nil {
		return fmt.Errorf("%s: %w", p.At, err)
	}
	b.out[p.At] = buffer.Bytes()
	return nil
}
