package compare

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const page = "README.md"

var (
	// excerpt is a block of Go under a line that ends with a link and a colon.
	excerpt = regexp.MustCompile("\\]\\(([^)\n]+)\\):\n\n```go\n((?s:.*?))```\n")
	blocks  = regexp.MustCompile("(?m)^```go$")
	link    = regexp.MustCompile(`\]\(([^)]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// The reading page quotes code as it is, indentation aside.
func TestPageQuotesTheCode(t *testing.T) {
	text := contents(t, page)
	excerpts := excerpt.FindAllStringSubmatch(text, -1)
	if want := len(blocks.FindAllString(text, -1)); len(excerpts) != want || want == 0 {
		t.Errorf("%d blocks of Go, of which %d follow a line that ends with a link to their file and a colon", want, len(excerpts))
	}
	for _, e := range excerpts {
		file, quoted := e[1], flat(e[2])
		if !strings.Contains(flat(contents(t, file)), quoted) {
			t.Errorf("%s does not contain what the page quotes of it:\n%s", file, e[2])
		}
	}
}

// flat is a text without its indentation, each line closed on both sides, so that a
// part of it is whole lines.
func flat(text string) string {
	var lines strings.Builder
	lines.WriteByte('\n')
	for line := range strings.Lines(text) {
		lines.WriteString(strings.TrimSpace(line) + "\n")
	}
	return lines.String()
}

// What the page links to exists.
func TestPageLinks(t *testing.T) {
	text := contents(t, page)
	anchors := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		anchors["#"+strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	links := link.FindAllStringSubmatch(text, -1)
	if len(links) == 0 {
		t.Error("the page links to nothing")
	}
	for _, l := range links {
		switch target := l[1]; {
		case strings.HasPrefix(target, "https://"):
		case strings.HasPrefix(target, "#"):
			if !anchors[target] {
				t.Errorf("no heading for %s", target)
			}
		default:
			if _, err := os.Stat(filepath.FromSlash(target)); err != nil {
				t.Errorf("link: %v", err)
			}
		}
	}
}
