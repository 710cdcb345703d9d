package main

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed templates static
var own embed.FS

const (
	readme = "README.md"
	// orderSection is the section of the README whose links are the reading path.
	orderSection = "Read it in this order"
	// resultsFolder has further documents beside its README.
	resultsFolder = "compare/results/"
)

// The pages, from the folder of their language.
const (
	home         = "index.html"
	readingPath  = "read/index.html"
	wordsPage    = "words.html"
	runPage      = "run.html"
	whyPage      = "why.html"
	resultsPage  = "results.html"
	comparePage  = "compare.html"
	contributing = "contributing.html"
)

// menu are the pages that every page links.
var menu = []string{home, readingPath, wordsPage, runPage, whyPage, resultsPage}

// shelf says which page has which sections of the README. The last one has the rest.
var shelf = []struct {
	page     string
	sections []string
}{
	{wordsPage, []string{"Words"}},
	{readingPath, []string{"How an object travels", orderSection}},
	{runPage, []string{"Try it in a second terminal", "Commands", "Run it in a cluster"}},
	{whyPage, nil},
}

// documents are pages whole.
var documents = map[string]string{
	resultsFolder + readme: resultsPage,
	"compare/" + readme:    comparePage,
	"CONTRIBUTING.md":      contributing,
}

// builder makes the site.
type builder struct {
	files  fs.FS
	source string
	// route are the files of the reading path.
	route []string
	// documents are the pages of the other documents.
	documents map[string]string
	editions  []*edition
	stage     template.HTML
	// out are the files of the site, by their paths.
	out map[string][]byte
}

// build returns the files of the site for the repository in root, whose files are given.
func build(root string, files fs.FS, source string) (map[string][]byte, error) {
	b := &builder{files: files, source: source, documents: maps.Clone(documents), out: map[string][]byte{}}
	if err := b.plan(); err != nil {
		return nil, err
	}
	for _, e := range b.editions {
		if err := e.write(); err != nil {
			return nil, err
		}
	}
	for name, from := range map[string]string{"page.css": pageFolder + "style.css", "icon.svg": pageFolder + "icon.svg", "screenshot.png": "internal/page/screenshot.png"} {
		content, err := fs.ReadFile(files, from)
		if err != nil {
			return nil, err
		}
		b.out[name] = content
	}
	var err error
	if b.out["site.css"], err = own.ReadFile("static/site.css"); err != nil {
		return nil, err
	}
	b.out["picture.js"], err = script(root, b.route)
	return b.out, err
}

// plan finds the reading path, the languages, and the page of each file.
func (b *builder) plan() (err error) {
	if b.stage, err = stage(b.files); err != nil {
		return err
	}
	d, err := parse(b.files, readme)
	if err != nil {
		return err
	}
	_, sections := d.sections()
	var titles []string
	order := &route{files: b.files}
	for _, s := range sections {
		titles = append(titles, s.title)
		if s.title == orderSection {
			if err := order.follow(d, s.nodes); err != nil {
				return err
			}
		}
	}
	b.route = order.stops
	results, err := fs.Glob(b.files, resultsFolder+"*.md")
	for _, file := range results {
		// A second dot is that of a translation.
		if name := strings.TrimSuffix(path.Base(file), ".md"); b.documents[file] == "" && !strings.Contains(name, ".") {
			b.documents[file] = name + ".html"
		}
	}
	if err != nil {
		return err
	}
	for _, w := range []words{english, chinese} {
		if err := b.edit(w, titles); err != nil {
			return err
		}
	}
	return nil
}

// translation is a document's file in that language, if there is one.
func (b *builder) translation(file string, w words) (string, bool) {
	translated := strings.TrimSuffix(file, ".md") + "." + w.Code + ".md"
	if _, err := fs.Stat(b.files, translated); path.Ext(file) == ".md" && err == nil {
		return translated, true
	}
	return file, w.Code == english.Code
}

// templates are those of each kind of page, in the one layout.
var templates = map[string]*template.Template{}

func init() {
	for _, kind := range []string{"home", "document", "source"} {
		layout := template.New("layout.html").Funcs(template.FuncMap{"breakable": breakable})
		templates[kind] = template.Must(layout.ParseFS(own, "templates/layout.html", "templates/"+kind+".html"))
	}
}

// breakable lets a path go on in the next line after each slash.
func breakable(file string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(file), "/", "/<wbr>"))
}

// page is what a template is given.
type page struct {
	*edition
	// At is its path from the top of the site.
	At    string
	Title string
	// File is the file of the repository that it shows, "" for parts of the README.
	File string
	Body template.HTML
	// Lang is the language of Body.
	Lang  string
	Pairs []pair
	// Place is its place on the reading path, from 1, 0 for none.
	Place int
}

// Before and After are its neighbours on the reading path, "" for none.
func (p page) Before() string { return p.neighbour(-1) }
func (p page) After() string  { return p.neighbour(+1) }

func (p page) neighbour(by int) string {
	if i := p.Place - 1 + by; p.Place > 0 && i >= 0 && i < len(p.route) {
		return p.route[i]
	}
	return ""
}

// Number says which file of the core it is, and of how many. The chapters are three times
// as long and read one at a time: a file of theirs has no number.
func (p page) Number() string {
	core := slices.DeleteFunc(slices.Clone(p.route), func(file string) bool { return strings.HasPrefix(file, "chapters/") })
	if at := slices.Index(core, p.route[p.Place-1]); at >= 0 {
		return fmt.Sprintf("%d %s %d", at+1, p.Words.Of, len(core))
	}
	return p.Words.Pages[readingPath]
}

// To is a link to another page or file of the site.
func (p page) To(target string) string { return relative(p.At, target) }

// Here is a link to a page in the same language.
func (p page) Here(target string) string { return relative(p.At, p.folder+target) }

// In is a link to the same page in another language.
func (p page) In(other *edition) string {
	return relative(p.At, other.folder+strings.TrimPrefix(p.At, p.folder))
}

// Is says whether it is that page, or one below it.
func (p page) Is(target string) bool {
	here := strings.TrimPrefix(p.At, p.folder)
	return here == target || target == readingPath && strings.HasPrefix(here, "read/")
}

// IsPath says whether it is the page of the reading path.
func (p page) IsPath() bool { return p.At == p.folder+readingPath }

func (p page) Menu() []string { return menu }

// put renders a page.
func (b *builder) put(kind string, p page) error {
	var buffer bytes.Buffer
	if err := templates[kind].ExecuteTemplate(&buffer, "layout.html", p); err != nil {
		return fmt.Errorf("%s: %w", p.At, err)
	}
	b.out[p.At] = buffer.Bytes()
	return nil
}

// shelfOf is the page for a section of the README.
func shelfOf(title string) string {
	for _, s := range shelf {
		if slices.Contains(s.sections, title) {
			return s.page
		}
	}
	return shelf[len(shelf)-1].page
}
