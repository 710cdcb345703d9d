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
	// named is a file of the repository, by its whole name, and unmade one that
	// CONTRIBUTING.md tells people to add.
	named   = regexp.MustCompile("`((?:api|browser|chapters|clientset|cluster|compare|config|controller|informer|internal|site)/[\\w./-]+\\.(?:go|yaml|md|sh))`")
	unmade  = regexp.MustCompile(`\bbars?[._]|stable|NAME`)
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlike  = regexp.MustCompile(`[^\p{L}\p{N} _-]`) // what an anchor has nothing of
)

// Each link in a Markdown file of this repository leads to a file, and to a heading in it,
// that there is, and each file that the text names exists. CHANGELOG.md names what is gone.
func TestLinks(t *testing.T) {
	repository := os.DirFS("../..")
	read := func(file string) string {
		text, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		return fence.ReplaceAllString(string(text), "")
	}
	files, links := 0, 0
	err := fs.WalkDir(repository, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".md" {
			return err
		}
		files++
		text := read(file)
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue // another server's
			}
			links++
			to := file
			if target != "" {
				to = path.Join(path.Dir(file), target)
			}
			if !exists(repository, to) {
				t.Errorf("%s: nothing is at %s", file, target)
			} else if path.Ext(to) == ".md" && anchor != "" && !anchors(read(to))[anchor] {
				t.Errorf("%s: no heading for %s", file, found[1])
			}
		}
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			if name := found[1]; file != "CHANGELOG.md" && !unmade.MatchString(name) && !exists(repository, name) && !exists(repository, path.Join(path.Dir(file), name)) {
				t.Errorf("%s: there is no %s", file, name)
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

// anchors are those that GitHub gives the headings of a text.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(unlike.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-")] = true
	}
	return all
}
