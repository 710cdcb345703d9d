package testkit_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// named matches a file of the repository with its whole path. unmade matches a file that
	// CONTRIBUTING.md tells people to add.
	named  = regexp.MustCompile("`((?:api|browser|chapters|clientset|cluster|compare|config|controller|informer|internal|kit|mine|site)/[\\w./-]+\\.(?:go|yaml|md|sh))`")
	unmade = regexp.MustCompile(`\bbars?[._]|stable|NAME`)
	fence  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// Each link in a Markdown file leads to an existing file, and each file that the text names exists, except in
// CHANGELOG.md. TestLinks in tools/site checks the headings.
func TestLinks(t *testing.T) {
	repository := os.DirFS("../../..")
	files, links := 0, 0
	err := fs.WalkDir(repository, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".md" {
			return err
		}
		files++
		content, err := fs.ReadFile(repository, file)
		if err != nil {
			return err
		}
		text := fence.ReplaceAllString(string(content), "")
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target, _, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue // a link to another server
			}
			links++
			if !exists(repository, path.Join(path.Dir(file), target)) {
				t.Errorf("%s: the file %s of a link does not exist", file, target)
			}
		}
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			if name := found[1]; file != "CHANGELOG.md" && !unmade.MatchString(name) && !exists(repository, name) && !exists(repository, path.Join(path.Dir(file), name)) {
				t.Errorf("%s: the named file %s does not exist", file, name)
			}
		}
		return nil
	})
	if err != nil || files < 10 || links < 100 {
		t.Errorf("%d files, %d links (%v)", files, links, err)
	}
}

func exists(repository fs.FS, file string) bool {
	_, err := fs.Stat(repository, file)
	return err == nil
}

// shown matches a file that shows an answer.
var shown = regexp.MustCompile("\\[[^]]*\\]\\(([^)]+)\\)|`k8s\\.io/[^`]+`|`([^`]+)`")

// Each file that shows an answer in docs/questions.md has the functions, tests and lines that the answer
// names.
func TestQuestions(t *testing.T) {
	page, err := os.ReadFile("../../../docs/questions.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "→ ") {
			continue
		}
		file, content := "", []byte(nil)
		for _, named := range shown.FindAllStringSubmatch(line, -1) {
			if name := named[2]; name == "" {
				file = named[1]
				if content, err = os.ReadFile(path.Join("../../../docs", file)); err != nil {
					file = ""
				}
			} else if file != "" {
				checked++
				if !regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `(\W|$)`).Match(content) {
					t.Errorf("%s does not have %q", file, name)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d names were checked", checked)
	}
}
