package main

import (
	"fmt"
	"html"
	"io/fs"
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
