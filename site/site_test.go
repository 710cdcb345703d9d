package main

import (
	"bytes"
	"fmt"
	"html"
	"image/png"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository is this one.
var repository = os.DirFS("..")

func made(t *testing.T, files fs.FS, source string) map[string][]byte {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	site, err := build(root, files, source, "https://site.example.com/folder/")
	if err != nil {
		t.Fatal(err)
	}
	return site
}

var (
	attribute = regexp.MustCompile(`<(\w+)[^>]*? (href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(` id="([^"]*)"`)
)

// Each lesson, each bug and the puzzle has a page whose link shows what it is, and which opens the
// playground there.
func TestPreviews(t *testing.T) {
	site := made(t, repository, "")
	for name, wants := range map[string][]string{
		"puzzle.html":               {"Find the bug", "#puzzle"},
		"lesson-10.html":            {"Write it wrong", "#lesson=10"},
		"bug-deaf-to-names.html":    {"does not hear that a name", "#bug=deaf-to-names\""},
		"bug-deletes-first.html":    {"The bug deletes-first", "#bug=deletes-first\\u0026luck=refuse-creates\""},
		"bug-edge-triggered.html":   {"does what each event says", "#bug=edge-triggered\""},
		playgroundPage:              {"A real Kubernetes controller runs"},
		pageOf("controller/doc.go"): nil,
	} {
		for _, want := range append(wants, `<meta property="og:image" content="https://site.example.com/folder/preview.png">`, `<meta name="description" content="`) {
			if has := strings.Contains(string(site[name]), want); has != (wants != nil) {
				t.Errorf("%s has %s: %t", name, want, has)
			}
		}
	}
	if card, err := png.DecodeConfig(bytes.NewReader(site["preview.png"])); err != nil || card.Width != 1200 || card.Height != 630 {
		t.Errorf("the picture is %+v, want 1200x630: %v", card, err)
	}
}

// Each link leads to a file of the site, and to a place in it that there is. Only a link
// that a reader follows may leave the site: nothing is loaded from anywhere else.
func TestLinks(t *testing.T) {
	site := made(t, repository, "")
	for n := range parts { // They come of a build that takes minutes.
		site[fmt.Sprintf("playground/part%d.js", n)] = nil
	}
	links := 0
	for name, content := range site {
		if path.Ext(name) != ".html" {
			continue
		}
		ids := map[string]bool{}
		for _, id := range anchor.FindAllStringSubmatch(string(content), -1) {
			if ids[id[1]] {
				t.Errorf("%s: two things have the id %s", name, id[1])
			}
			ids[id[1]] = true
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
			case to.Fragment != "" && target != playgroundPage && !hasID(there, to.Fragment):
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

// The reading path has what the README links, in its order, and each package begins with
// its doc.go. What another document links has a page, too.
func TestReadingPath(t *testing.T) {
	b, err := plan(repository, "")
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, file := range []string{
		"controller/example_test.go",
		"api/examples-gzh.com/v1alpha1/doc.go",
		"api/examples-gzh.com/v1alpha1/types.go",
		"api/examples-gzh.com/v1alpha1/deepcopy.go",
		"api/examples-gzh.com/v1alpha1/register.go",
		"config/crd/foos.samplecontroller.k8s.io.yaml",
		"clientset/doc.go",
		"informer/project.go",
		"controller/doc.go",
		"main.go",
		"chapters/README.md",
		"chapters/at/README.md",
		"controller/foo/reconcile_test.go",
	} {
		at := slices.Index(b.order, file)
		if at <= last {
			t.Errorf("%s is number %d of the reading path, want it after number %d: %q", file, at, last, b.order)
		}
		last = max(at, last)
	}
	for _, file := range []string{"CONTRIBUTING.md", "compare/README.md", "chapters/http/doc.go", "chapters/http/main.go", "chapters/at/once_test.go"} {
		if _, found := b.found[file]; !found {
			t.Errorf("%s has no page", file)
		}
	}
}

// The first page begins with the README's first words, and a page says in which language
// its text is read aloud.
func TestDocuments(t *testing.T) {
	site := made(t, repository, "")
	for name, want := range map[string]string{
		home:                        `<div class="lead" lang="en" translate="no"><p>A controller is`,
		playgroundPage:              `<noscript><style>.play { display: none; }</style></noscript>`, // What stands in the place of a picture that needs scripts is an image.
		pageOf(readme):              `<div class="body" lang="en">`,
		"read/README.zh-CN.md.html": `<div class="body" lang="zh-CN">`,
		// The first one links it, and this one the next.
		"read/chapters/informer/README.zh-CN.md.html": `<div class="body" lang="zh-CN">`,
	} {
		if !strings.Contains(string(site[name]), want) {
			t.Errorf("%s does not have %q", name, want)
		}
	}
}

// What has no page here is plain text, unless the repository can be read elsewhere.
func TestSource(t *testing.T) {
	const link = `<a href="https://example.com/byhand/LICENSE">LICENSE</a>`
	for source, want := range map[string]bool{"": false, "https://example.com/byhand": true} {
		if got := strings.Contains(string(made(t, repository, source)[pageOf(readme)]), link); got != want {
			t.Errorf("with %q: a link to the license is there: %t", source, got)
		}
	}
}

// Each question has its answer folded below it, in every language, and nothing else is.
func TestQuestions(t *testing.T) {
	site := made(t, repository, "")
	knew := map[string]string{pageOf("QUESTIONS.md"): "> I knew that<", pageOf("QUESTIONS.zh-CN.md"): "> 我答对了<"}
	for name, content := range site {
		page := string(content)
		asked, folded := strings.Count(page, "<h3"), strings.Count(page, "<details><summary><h3")
		switch box, quiz := knew[name]; {
		case quiz && (asked < 50 || folded != asked || strings.Count(page, "</h3></summary>") != asked || strings.Count(page, "</details>") != asked):
			t.Errorf("%s: %d questions, %d folded", name, asked, folded)
		case quiz && strings.Count(page, box) != asked:
			t.Errorf("%s: %d boxes %s", name, strings.Count(page, box), box)
		case !quiz && folded > 0:
			t.Errorf("%s is folded, too", name)
		}
		delete(knew, name)
	}
	if len(knew) > 0 {
		t.Errorf("not there: %v", knew)
	}
}
