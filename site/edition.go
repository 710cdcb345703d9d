package main

import (
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// edition is the site in one language.
type edition struct {
	*builder
	Words words
	// folder is where its pages are, "" for English.
	folder string
	readme *document
	// introduction and shelves are the README, the latter by page.
	introduction []ast.Node
	shelves      map[string][]section
	// pages are the page of each file that has one, anchors that of each heading of the
	// README.
	pages, anchors map[string]string
}

// edit adds the edition in a language, if the README is there in it. titles are those of
// the README's sections in English: a translation has the same ones in the same order.
func (b *builder) edit(w words, titles []string) error {
	file, found := b.translation(readme, w)
	if !found {
		return nil
	}
	d, err := parse(b.files, file)
	if err != nil {
		return err
	}
	e := &edition{builder: b, Words: w, readme: d, shelves: map[string][]section{}, pages: map[string]string{}, anchors: map[string]string{}}
	if w.Code != english.Code {
		e.folder = w.Code + "/"
	}
	var sections []section
	e.introduction, sections = d.sections()
	if len(sections) != len(titles) {
		return fmt.Errorf("%s has %d sections, %s has %d: a translation has the same ones in the same order", file, len(sections), readme, len(titles))
	}
	if len(e.introduction) == 0 {
		return fmt.Errorf("%s says nothing below its title", file)
	}
	for i, s := range sections {
		e.place(s, shelfOf(titles[i]))
	}
	for _, s := range shelf {
		if len(e.shelves[s.page]) < max(1, len(s.sections)) {
			return fmt.Errorf("%s lacks a section for %s: %q", readme, s.page, s.sections)
		}
	}
	e.number()
	// Each README leads to the first page in its language.
	for _, other := range append(b.editions, e) {
		other.pages[file], e.pages[other.readme.file] = e.folder+home, other.folder+home
	}
	b.editions = append(b.editions, e)
	return nil
}

// place puts a section of the README on a page.
func (e *edition) place(s section, page string) {
	e.shelves[page] = append(e.shelves[page], s)
	for _, n := range s.nodes {
		if id, found := n.AttributeString("id"); found && n.Kind() == ast.KindHeading {
			e.anchors[string(id.([]byte))] = e.folder + page
		}
	}
}

// number gives each file its page.
func (e *edition) number() {
	add := func(file, page string) {
		translated, _ := e.translation(file, e.Words)
		e.pages[file], e.pages[translated] = e.folder+page, e.folder+page
	}
	for _, file := range e.route {
		add(file, "read/"+file+".html")
	}
	for file, page := range e.documents {
		add(file, page)
	}
}

// write renders every page of the edition.
func (e *edition) write() error {
	at := e.folder + home
	body, err := e.html(at, e.readme, e.introduction[0])
	if err == nil {
		err = e.put("home", page{edition: e, At: at, Title: e.Words.Headline, Body: body})
	}
	for _, s := range shelf {
		nodes := e.nodes(s.page)
		if s.page == runPage {
			nodes = slices.Concat(e.introduction[1:], nodes)
		}
		err = errors.Join(err, e.writeDocument(e.folder+s.page, e.Words.Pages[s.page], e.readme, nodes))
	}
	for _, file := range slices.Sorted(maps.Keys(e.documents)) {
		err = errors.Join(err, e.writeFile(file))
	}
	for _, file := range e.route {
		err = errors.Join(err, e.writeFile(file))
	}
	return err
}

// nodes are what a page has of the README. A page of one section has its heading already.
func (e *edition) nodes(page string) (nodes []ast.Node) {
	sections := e.shelves[page]
	if len(sections) == 1 {
		return sections[0].nodes[1:]
	}
	for _, s := range sections {
		nodes = append(nodes, s.nodes...)
	}
	return nodes
}

// writeFile renders the page of a file of the repository.
func (e *edition) writeFile(file string) error {
	at := e.pages[file]
	if path.Ext(file) == ".md" {
		translated, _ := e.translation(file, e.Words)
		d, err := parse(e.files, translated)
		if err != nil {
			return err
		}
		introduction, sections := d.sections()
		for _, s := range sections {
			introduction = append(introduction, s.nodes...)
		}
		return e.writeDocument(at, d.title(), d, introduction)
	}
	source, err := fs.ReadFile(e.files, file)
	if err != nil {
		return err
	}
	pairs, err := pairsOf(file, source)
	if err != nil {
		return err
	}
	for i := range pairs {
		pairs[i].Doc = e.linkNames(at, path.Dir(file), pairs[i].Doc)
	}
	return e.put("source", page{edition: e, At: at, Title: file, File: file, Pairs: pairs, Place: slices.Index(e.route, file) + 1})
}

func (e *edition) writeDocument(at, title string, d *document, nodes []ast.Node) error {
	body, err := e.html(at, d, nodes...)
	if err != nil {
		return err
	}
	p := page{edition: e, At: at, Title: title, Body: body, Lang: english.Code}
	if strings.HasSuffix(d.file, "."+e.Words.Code+".md") {
		p.Lang = e.Words.Code
	}
	if d.file != e.readme.file {
		p.File = d.file
		p.Place = slices.IndexFunc(e.route, func(file string) bool { return e.pages[file] == at }) + 1
	}
	return e.put("document", p)
}

// html renders nodes of a document for a page.
func (e *edition) html(at string, d *document, nodes ...ast.Node) (template.HTML, error) {
	if err := e.relink(at, d, nodes); err != nil {
		return "", err
	}
	return d.html(nodes...)
}

// What follows is for the templates.

// Stops are the reading path.
func (e *edition) Stops() []string { return e.route }

// Page is the page of a file.
func (e *edition) Page(file string) string { return e.pages[file] }

// Stage is the picture.
func (e *edition) Stage() template.HTML { return e.stage }

// Editions are the languages that there are.
func (e *edition) Editions() []*edition { return e.editions }

// Repository is where others can read a file, "" for nowhere.
func (e *edition) Repository(file string) string {
	if e.source == "" || file == "" {
		return ""
	}
	return strings.TrimSuffix(e.source, "/") + "/" + file
}
