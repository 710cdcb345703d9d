package bugs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/byhand/compare/judge/reference/bugs"
)

// constant is how bugs.go names a flag.
var constant = regexp.MustCompile(`(\w+)\s+Name = "([a-z0-9-]+)"`)

// Each flag is in the table and does something: the program asks for it.
func TestEachBugIsInTheProgram(t *testing.T) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	for _, file := range files {
		program.Write(contents(t, file))
	}
	flags := constant.FindAllSubmatch(contents(t, "bugs.go"), -1)
	if len(flags) != len(bugs.All) {
		t.Errorf("%d names, and %d bugs in the table", len(flags), len(bugs.All))
	}
	inTable := map[bugs.Name]bool{}
	for _, bug := range bugs.All {
		if inTable[bug.Name] {
			t.Errorf("-%s is in the table twice", bug.Name)
		}
		inTable[bug.Name] = true
		if bug.Does == "" || len(bug.CaughtBy) == 0 {
			t.Errorf("-%s: the table does not say what it does, or what catches it", bug.Name)
		}
	}
	for _, flag := range flags {
		if !inTable[bugs.Name(flag[2])] {
			t.Errorf("-%s is not in the table", flag[2])
		}
		if !strings.Contains(program.String(), "has(bugs."+string(flag[1])+")") {
			t.Errorf("-%s does nothing", flag[2])
		}
	}
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
