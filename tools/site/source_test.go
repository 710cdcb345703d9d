package main

import (
	"fmt"
	"html"
	"io/fs"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var (
	tag    = regexp.MustCompile(`<[^>]*>`)
	spoken = regexp.MustCompile(`[\pL_]+`)
)

// The pairs of a file contain each word of the file, in order.
func TestSourcesAreWhole(t *testing.T) {
	b, err := plan(repository, "")
	if err != nil {
		t.Fatal(err)
	}
	for file, document := range b.found {
		if document != nil {
			continue
		}
		source, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		pairs, err := pairsOf(file, source)
		if err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		for _, p := range pairs {
			fmt.Fprintf(&shown, "%s\n%s\n", p.Doc, p.Code)
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

// Doc comments go next to the code; comments inside a declaration stay.
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
		{Doc: "<p>Package x is &lt;small&gt;.\n", Code: "<span class=\"keyword\">package</span> x", Broad: true},
		{Code: "<span class=\"keyword\">import</span> <span class=\"text\">&#34;embed&#34;</span>", Imports: true},
		{ID: "files", Doc: "<p>files are embedded.\n", Code: "<span class=\"comment\">//go:embed *</span>\n<span class=\"keyword\">var</span> files embed.FS"},
		{ID: "T.Plain", Code: "<span class=\"keyword\">func</span> (t *T[K]) Plain() {\n\t<span class=\"comment\">// inside</span>\n\t<span class=\"keyword\">return</span> <span class=\"text\">&#34;a &amp; b&#34;</span>\n}"},
		{Doc: "<p>the end\n", Broad: true},
	}
	if !reflect.DeepEqual(pairs, want) {
		t.Errorf("got\n%+v\nwant\n%+v", pairs, want)
	}
}
