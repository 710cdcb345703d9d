package main

import (
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// translated is the repository with a README in Chinese: that in English, under its name.
type translated struct {
	fs.FS
	more fstest.MapFS
}

func (t translated) Open(name string) (fs.File, error) {
	if _, found := t.more[name]; found {
		return t.more.Open(name)
	}
	return t.FS.Open(name)
}

// repository is this one, in both languages.
func repository(t *testing.T) translated {
	t.Helper()
	files := os.DirFS("..")
	text, err := fs.ReadFile(files, readme)
	if err != nil {
		t.Fatal(err)
	}
	return translated{files, fstest.MapFS{"README.zh-CN.md": {Data: text}}}
}

func made(t *testing.T, files fs.FS, source string) map[string][]byte {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	site, err := build(root, files, source)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

var (
	attribute = regexp.MustCompile(`<(\w+)[^>]*? (href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(` id="([^"]*)"`)
)

// Each link leads to a file of the site, and to a place in it that there is. Only a link
// that somebody follows may leave the site: nothing is loaded from anywhere else.
func TestLinks(t *testing.T) {
	site := made(t, repository(t), "")
	links := 0
	for name, content := range site {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, found := range attribute.FindAllSubmatch(content, -1) {
			element, link := string(found[1]), html.UnescapeString(string(found[3]))
			to, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if element == "a" && to.Scheme == "https" {
				continue
			}
			links++
			target := name
			if to.Path != "" {
				target = path.Join(path.Dir(name), to.Path)
			}
			there, found := site[target]
			switch {
			case to.Scheme != "" || to.Host != "" || strings.HasPrefix(to.Path, "/"):
				t.Errorf("%s: the %s leads out of the site: %s", name, element, link)
			case !found:
				t.Errorf("%s: nothing is at %s", name, link)
			case to.Fragment != "" && !hasID(there, to.Fragment):
				t.Errorf("%s: nothing has the id of %s", name, link)
			}
		}
	}
	if links < 1000 {
		t.Errorf("only %d links were looked at", links)
	}
}

func hasID(content []byte, id string) bool {
	return slices.ContainsFunc(anchor.FindAllSubmatch(content, -1), func(found [][]byte) bool {
		return html.UnescapeString(string(found[1])) == id
	})
}

// The reading path has what the README names, in its order, and each package begins with
// its doc.go.
func TestReadingPath(t *testing.T) {
	b := &builder{files: repository(t), documents: map[string]string{}}
	if err := b.plan(); err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, file := range []string{
		"config/crd/foos.samplecontroller.k8s.io.yaml",
		"api/examples-gzh.com/v1alpha1/doc.go",
		"api/examples-gzh.com/v1alpha1/types.go",
		"api/examples-gzh.com/v1alpha1/deepcopy.go",
		"api/examples-gzh.com/v1alpha1/register.go",
		"api/samplecontroller.k8s.io/v1alpha1/types.go",
		"clientset/doc.go",
		"clientset/scheme.go",
		"clientset/project.go",
		"clientset/foo.go",
		"informer/doc.go",
		"informer/foo.go",
		"informer/project.go",
		"controller/doc.go",
		"controller/handlers.go",
		"controller/example_test.go",
		"controller/foo.go",
		"controller/rename.go",
		"main.go",
		"chapters/README.md",
		"chapters/http/README.md",
		"chapters/http/doc.go",
		"chapters/http/main.go",
		"chapters/at/README.md",
		"chapters/at/crd_test.go",
		"chapters/at/types.go",
		"controller/foo_test.go",
	} {
		at := slices.Index(b.route, file)
		if at <= last {
			t.Errorf("%s is number %d of the reading path, want it after number %d: %q", file, at, last, b.route)
		}
		last = max(at, last)
	}
}

var (
	tag    = regexp.MustCompile(`<[^>]*>`)
	spoken = regexp.MustCompile(`[\pL_]+`)
)

// Side by side, a file says what it says as a whole: every word of it, in its order.
func TestSourcesAreWhole(t *testing.T) {
	files := repository(t)
	b := &builder{files: files, documents: map[string]string{}}
	if err := b.plan(); err != nil {
		t.Fatal(err)
	}
	for _, file := range b.route {
		if path.Ext(file) == ".md" {
			continue
		}
		source, err := fs.ReadFile(files, file)
		if err != nil {
			t.Fatal(err)
		}
		pairs, err := pairsOf(file, source)
		if err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		for _, p := range pairs {
			fmt.Fprintf(&shown, "%s\n%s\n%s\n", p.Doc, p.Code, p.Imports)
		}
		got := spoken.FindAllString(html.UnescapeString(tag.ReplaceAllString(shown.String(), " ")), -1)
		want := spoken.FindAllString(string(source), -1)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s: the page and the file differ after %q", file, want[max(0, i-8):min(i, len(want))])
				break
			}
		}
	}
}

// What is a comment of its declaration stands beside it; what is inside stays inside.
func TestPairs(t *testing.T) {
	pairs, err := pairsOf("x.go", []byte(`//go:build page

// Package x is <small>.
package x

import "embed"

// files are embedded.
//
//go:embed *
var files embed.FS

func (t *T[K]) Plain() {
	// inside
	return "a & b"
}

// the end
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []pair{
		{Code: `<span class="comment">//go:build page</span>`},
		{Doc: "<p>Package x is &lt;small&gt;.\n", Code: "<span class=\"keyword\">package</span> x", Imports: "<span class=\"keyword\">import</span> <span class=\"text\">&#34;embed&#34;</span>", Broad: true},
		{ID: "files", Doc: "<p>files are embedded.\n", Code: "<span class=\"comment\">//go:embed *</span>\n<span class=\"keyword\">var</span> files embed.FS"},
		{ID: "T.Plain", Code: "<span class=\"keyword\">func</span> (t *T[K]) Plain() {\n\t<span class=\"comment\">// inside</span>\n\t<span class=\"keyword\">return</span> <span class=\"text\">&#34;a &amp; b&#34;</span>\n}"},
		{Doc: "<p>the end\n", Broad: true},
	}
	if !reflect.DeepEqual(pairs, want) {
		t.Errorf("got\n%+v\nwant\n%+v", pairs, want)
	}
}

// Both languages have all sentences, and the same pages.
func TestLanguages(t *testing.T) {
	for _, w := range []words{english, chinese} {
		fields := reflect.ValueOf(w)
		for i := range fields.NumField() {
			if fields.Field(i).IsZero() {
				t.Errorf("%s has no %s", w.Code, fields.Type().Field(i).Name)
			}
		}
		for _, name := range menu {
			if w.Pages[name] == "" {
				t.Errorf("%s has no title for %s", w.Code, name)
			}
		}
	}
	site := made(t, repository(t), "")
	pages := 0
	for name := range site {
		if path.Ext(name) == ".html" && !strings.HasPrefix(name, "zh-CN/") {
			pages++
			if site["zh-CN/"+name] == nil {
				t.Errorf("%s is not there in Chinese", name)
			}
		}
	}
	// What is not translated is read aloud in English.
	for name, lang := range map[string]string{"zh-CN/words.html": "zh-CN", "zh-CN/results.html": "en"} {
		if !strings.Contains(string(site[name]), `<h1 lang="`+lang+`">`) {
			t.Errorf("%s does not say that its text is in %s", name, lang)
		}
	}
	if first := string(site["zh-CN/index.html"]); !strings.Contains(first, `<html lang="zh-CN">`) || !strings.Contains(first, chinese.Headline) || pages == 0 {
		t.Errorf("%d pages; the first one in Chinese is not Chinese", pages)
	}
}

// A translation that lacks a section says so: its sections would stand on wrong pages.
func TestTranslationIsWhole(t *testing.T) {
	files := repository(t)
	translation := files.more["README.zh-CN.md"]
	translation.Data = []byte(strings.Replace(string(translation.Data), "\n## Commands\n", "\n", 1))
	if _, err := build("..", files, ""); err == nil || !strings.Contains(err.Error(), "README.zh-CN.md has") {
		t.Errorf("got %v, want it to name the file", err)
	}
}

// What has no page here is plain text, unless the repository can be read elsewhere.
func TestSource(t *testing.T) {
	const link = `<a href="https://example.com/byhand/LICENSE">LICENSE</a>`
	for source, want := range map[string]bool{"": false, "https://example.com/byhand": true} {
		if got := strings.Contains(string(made(t, repository(t), source)[whyPage]), link); got != want {
			t.Errorf("with %q: a link to the license is there: %t", source, got)
		}
	}
}
