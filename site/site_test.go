package main

import (
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

// repository is this one.
var repository = os.DirFS("..")

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
	site := made(t, repository, "")
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
	b := &builder{files: repository, documents: map[string]string{}}
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

// A file of the core says how far one has come in it, one of a chapter does not: nobody
// reads all chapters in a row.
func TestNumber(t *testing.T) {
	site := made(t, repository, "")
	place := regexp.MustCompile(`class="place"[^>]*>([^<]*)<`)
	for page, want := range map[string]string{
		"read/config/crd/foos.samplecontroller.k8s.io.yaml.html": `^1 of [2-4]\d$`,
		"read/chapters/http/main.go.html":                        `^The code$`,
	} {
		found := place.FindSubmatch(site[page])
		if found == nil || !regexp.MustCompile(want).Match(found[1]) {
			t.Errorf("%s says %q, want %s", page, found, want)
		}
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
	site := made(t, repository, "")
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
	// The README's first words are the first ones, not the line of languages above them.
	for name, lead := range map[string]string{home: `<p>A controller is`, "zh-CN/" + home: `<p>控制器是`} {
		if !strings.Contains(string(site[name]), `<div class="lead">`+lead) {
			t.Errorf("%s does not begin with %q", name, lead)
		}
	}
	if pages < 100 {
		t.Errorf("only %d pages were looked at", pages)
	}
}

// changed is the repository with other files in the place of some.
type changed struct {
	fs.FS
	files fstest.MapFS
}

func (c changed) Open(name string) (fs.File, error) {
	if _, found := c.files[name]; found {
		return c.files.Open(name)
	}
	return c.FS.Open(name)
}

// A translation that lacks a section says so: its sections would stand on wrong pages.
func TestTranslationIsWhole(t *testing.T) {
	text, err := fs.ReadFile(repository, readme)
	if err != nil {
		t.Fatal(err)
	}
	short := strings.Replace(string(text), "\n## Commands\n", "\n", 1)
	files := changed{repository, fstest.MapFS{"README.zh-CN.md": {Data: []byte(short)}}}
	if _, err := build("..", files, ""); err == nil || !strings.Contains(err.Error(), "README.zh-CN.md has") {
		t.Errorf("got %v, want it to name the file", err)
	}
}

// What has no page here is plain text, unless the repository can be read elsewhere.
func TestSource(t *testing.T) {
	const link = `<a href="https://example.com/byhand/LICENSE">LICENSE</a>`
	for source, want := range map[string]bool{"": false, "https://example.com/byhand": true} {
		if got := strings.Contains(string(made(t, repository, source)[whyPage]), link); got != want {
			t.Errorf("with %q: a link to the license is there: %t", source, got)
		}
	}
}
