package testkit_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// named is a file of the repository, by its whole name, and unmade one that
	// CONTRIBUTING.md tells people to add.
	named  = regexp.MustCompile("`((?:api|browser|chapters|clientset|cluster|compare|config|controller|informer|internal|kit|mine|site)/[\\w./-]+\\.(?:go|yaml|md|sh))`")
	unmade = regexp.MustCompile(`\bbars?[._]|stable|NAME`)
	fence  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// Each link in a Markdown file of this repository leads to a file that there is, and each file
// that the text names exists. CHANGELOG.md names what is gone. TestLinks of the site has the
// headings.
func TestLinks(t *testing.T) {
	repository := os.DirFS("../..")
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
				continue // another server's
			}
			links++
			if !exists(repository, path.Join(path.Dir(file), target)) {
				t.Errorf("%s: nothing is at %s", file, target)
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

var (
	// shown is what an answer names: a file, ours as a link or Kubernetes' by its path, or what
	// stands in the file before it.
	shown = regexp.MustCompile("\\[[^]]*\\]\\(([^)]+)\\)|`(k8s\\.io/[^`]+)`|`([^`]+)`")
	// target is what a reader of the page does not see of a link.
	target = regexp.MustCompile(`\]\([^)]*\)`)
)

// QUESTIONS.md has fifty to sixty questions. Each answer has at most six lines of a hundred
// characters, and what it says that shows it is there: the file, and each function, test or line.
func TestQuestions(t *testing.T) {
	page, err := os.ReadFile("../../QUESTIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	questions := strings.Split(string(page), "\n### ")[1:]
	if len(questions) < 50 || len(questions) > 60 {
		t.Errorf("%d questions", len(questions))
	}
	for _, question := range questions {
		question, _, _ = strings.Cut(question, "\n## ")
		title, rest, _ := strings.Cut(question, "\n")
		answer, shows, found := strings.Cut(rest, "\n→ ")
		if length := len([]rune(strings.TrimSpace(target.ReplaceAllString(answer, "]")))); length > 600 || !found {
			t.Errorf("%s: %d characters, and what shows it is said: %t", title, length, found)
		}
		file, content := "", []byte(nil)
		for _, named := range shown.FindAllStringSubmatch(shows, -1) {
			switch {
			case named[3] != "":
				if file != "" && !regexp.MustCompile(`(^|\W)`+regexp.QuoteMeta(named[3])+`(\W|$)`).Match(content) {
					t.Errorf("%s: %s does not have %q", title, file, named[3])
				}
				continue
			case named[2] != "":
				file = moduleFile(t, named[2])
			default:
				file = path.Join("../..", named[1])
			}
			if content, err = os.ReadFile(file); err != nil && file != "" {
				t.Errorf("%s: %v", title, err)
			}
		}
	}
}

// moduleFile is where a file of Kubernetes is: k8s.io/module/path. It is "" for the modules that
// only the control plane needs, as long as nobody has built that.
func moduleFile(t *testing.T, name string) string {
	t.Helper()
	parts := strings.SplitN(name, "/", 3)
	for _, folder := range []string{"../..", "../../cluster"} {
		list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path.Join(parts[:2]...))
		list.Dir = folder
		switch out, err := list.Output(); {
		case err != nil:
			continue
		case len(out) > 1:
			return path.Join(strings.TrimSpace(string(out)), parts[2])
		}
		return ""
	}
	t.Errorf("no module has %s", name)
	return ""
}
