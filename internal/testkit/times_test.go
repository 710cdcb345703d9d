package testkit_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	// timed is a chapter and how long it takes, in a row of the table or in a sentence.
	timed     = regexp.MustCompile(`\[[^]]*\]\(([a-z/]+?)(?:/README\.md)?\)[^[\n]*?(\d+)( minutes|\.)`)
	statement = regexp.MustCompile(`(?m)^\s*[^\s/]|^\s*/[^/]`)
)

// The times in chapters/README.md are what the rule there gives, for each chapter.
func TestReadingTimes(t *testing.T) {
	page, err := os.ReadFile("../../chapters/README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	table, _, _ := strings.Cut(string(page), "\n## ")
	for _, found := range timed.FindAllStringSubmatch(table, -1) {
		said[found[1]] = found[2]
	}
	if len(said) != 13 {
		t.Errorf("the page has %d times: %v", len(said), said)
	}
	for folder, minutes := range said {
		words, lines := readingMatter(t, os.DirFS(path.Join("../../chapters", folder)))
		exact := float64(words)/200 + float64(lines)/40
		if want := fmt.Sprint((int(exact*1000) + 4999) / 5000 * 5); minutes != want {
			t.Errorf("%s: %d words and %d lines take %.1f minutes, so %s, and the page says %s", folder, words, lines, exact, want, minutes)
		}
	}
}

// readingMatter counts the words of the README and of all comments, and the lines of program.
func readingMatter(t *testing.T, folder fs.FS) (words, lines int) {
	t.Helper()
	text, _ := fs.ReadFile(folder, "README.md") // Packages that chapters share have none.
	words = len(strings.Fields(string(text)))
	err := fs.WalkDir(folder, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, comment := range parsed.Comments {
			words += len(strings.Fields(comment.Text()))
		}
		lines += len(statement.FindAll(text, -1))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return words, lines
}
