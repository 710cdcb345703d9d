package schema

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// section is what a translation keeps of a part of the page. The order of the words may
// change, and a link to a heading has that heading's words.
type section struct {
	Level           string
	Code            []string // the fenced blocks, without the comments of a shell
	Links, Literals []string
	Rows            []int // the cells of each row of a table
	Items           int   // of lists
}

var (
	fenced  = regexp.MustCompile("(?s)```.*?\n```\n")
	comment = regexp.MustCompile(` +# .*`)
	heading = regexp.MustCompile(`^(#+) `)
	link    = regexp.MustCompile(`\]\(([^)#]+)\)`)
	literal = regexp.MustCompile("`[^`]+`")
	item    = regexp.MustCompile(`^(-|\d+\.) `)
)

// sections are those of a page, from its title on.
func sections(text string) (found []section) {
	blocks := fenced.FindAllString(text, -1)
	for line := range strings.Lines(fenced.ReplaceAllString(text, "```\n")) {
		if level := heading.FindStringSubmatch(line); level != nil {
			found = append(found, section{Level: level[1]})
		}
		if len(found) == 0 {
			continue
		}
		p := &found[len(found)-1]
		switch {
		case line == "```\n":
			p.Code = append(p.Code, comment.ReplaceAllString(blocks[0], ""))
			blocks = blocks[1:]
		case strings.HasPrefix(line, "|"):
			p.Rows = append(p.Rows, strings.Count(line, "|"))
		case item.MatchString(line):
			p.Items++
		}
		for _, to := range link.FindAllStringSubmatch(line, -1) {
			p.Links = append(p.Links, to[1])
		}
		p.Literals = append(p.Literals, literal.FindAllString(line, -1)...)
	}
	for i := range found {
		slices.Sort(found[i].Links)
		slices.Sort(found[i].Literals)
	}
	return found
}

// TestTranslation: both READMEs have the same commands, links, tables, lists and names,
// section by section, and link to each other.
func TestTranslation(t *testing.T) {
	english, chinese := contents(t, "README.md"), contents(t, "README.zh-CN.md")
	if diff := cmp.Diff(sections(english), sections(chinese)); diff != "" {
		t.Errorf("README.zh-CN.md is not in step with README.md (-README +README.zh-CN):\n%s", diff)
	}
	if !strings.HasPrefix(english, "English | [中文](README.zh-CN.md)\n") || !strings.HasPrefix(chinese, "[English](README.md) | 中文\n") {
		t.Error("the first lines of README.md and README.zh-CN.md do not link to each other")
	}
}
