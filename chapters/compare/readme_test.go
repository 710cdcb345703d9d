package compare

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestQuotedCode: README.md's Go code occurs in this repository, except for white space.
func TestQuotedCode(t *testing.T) {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	var sources strings.Builder
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		sources.WriteString(words(string(source)) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(quoted) == 0 {
		t.Fatal("README.md quotes nothing")
	}
	for _, block := range quoted {
		if !strings.Contains(sources.String(), words(string(block[1]))) {
			t.Errorf("no file has this:\n%s", block[1])
		}
	}
}
