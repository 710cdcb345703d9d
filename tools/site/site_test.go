package main

import (
	"html"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository is this repository.
var repository = os.DirFS("../..")

func made(t *testing.T, source string) map[string][]byte {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	site, err := build(root, repository, source, "https://site.example.com/folder/")
	if err != nil {
		t.Fatal(err)
	}
	return site
}

var (
	attribute = regexp.MustCompile(`<(\w+)[^>]*? (href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(` id="([^"]*)"`)
)

// Each link leads to a file of the site, and to an id in it. Pages load nothing from another host; only
// links that a reader follows may leave the site.
func TestLinks(t *testing.T) {
	site := made(t, "")
	links := 0
	for name, content := range site {
		if path.Ext(name) != ".html" {
			continue
		}
		if ids := idsOf(content); len(slices.Compact(slices.Sorted(slices.Values(ids)))) < len(ids) {
			t.Errorf("%s: two elements have the same id: %q", name, ids)
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
			case to.Fragment != "" && !strings.HasPrefix(to.Fragment, "lesson=") && !slices.Contains(idsOf(there), to.Fragment):
				t.Errorf("%s: nothing has the id of %s", name, link)
			}
		}
	}
	if links < 1000 {
		t.Errorf("only %d links were checked", links)
	}
}

func idsOf(content []byte) (ids []string) {
	for _, found := range anchor.FindAllSubmatch(content, -1) {
		ids = append(ids, html.UnescapeString(string(found[1])))
	}
	return ids
}

func TestPages(t *testing.T) {
	site := made(t, "https://example.com/byhand")
	for name, want := range map[string]string{
		home:                           `<meta property="og:image" content="https://site.example.com/folder/preview.png">`,
		pageOf(readme):                 `<a href="https://example.com/byhand/LICENSE">LICENSE</a>`, // It has no page.
		pageOf("docs/zh-CN/README.md"): `<div class="body" lang="zh-CN">`,
		pageOf("docs/questions.md"):    "<details><summary><h3",
		pageOf("controller/queue.go"):  `<a href="../../index.html#lesson=7">See it happen: lesson 7</a>`,
	} {
		if !strings.Contains(string(site[name]), want) {
			t.Errorf("%s does not have %q", name, want)
		}
	}
}
