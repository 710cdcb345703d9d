package exercise

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// newMine runs what `make new DIR=dir` runs.
func newMine(t *testing.T, environment ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "my own", "desk")
	run := exec.Command("sh", "tools/new/new.sh", "new", dir)
	run.Dir, run.Env = repository, append(os.Environ(), environment...)
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return dir
}

// call runs a command in a folder, without the network.
func call(dir string, name string, args ...string) (output string, err error) {
	run := exec.Command(name, args...)
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off")
	text, err := run.CombinedOutput()
	return string(text), err
}

// newTicket is what the first six steps of the README make of the folder.
func newTicket(t *testing.T) (dir string) {
	t.Helper()
	dir = newMine(t)
	toTicket(t, dir, 6)
	return dir
}

// toTicket takes the steps of the README up to one: what it shows of each file is put there.
func toTicket(t *testing.T, dir string, steps int) {
	t.Helper()
	if output, err := call(dir, "make", "names", "KIND=Ticket", "GROUP=desk.example.com", "VERSION=v1", "MODULE=example.com/desk"); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var shown []string
	for _, block := range regexp.MustCompile("(?s)```(?:go|yaml)\n(.*?)```").FindAllStringSubmatch(string(contents(t, filepath.Join(dir, "README.md"))), -1) {
		shown = append(shown, block[1])
	}
	if len(shown) != 4 {
		t.Fatalf("the README shows %d files, want the types, the copies, the schema and the sample", len(shown))
	}
	between(t, dir, "types.go", "type TicketSpec", "// TicketStatus", shown[0]+"\n")
	replace(t, dir, "reconcile.go", "w.Spec.Text", "w.Spec.Title")
	if steps >= 4 {
		between(t, dir, "deepcopy.go", "func (s *TicketSpec)", "func (s *TicketStatus)", shown[1]+"\n")
		replace(t, dir, "deepcopy.go", "import (\n", "import (\n\t\"maps\"\n")
	}
	if steps >= 5 {
		between(t, dir, "config/crd.yaml", "              required: [text]", "            status:", shown[2])
		replace(t, dir, "config/sample.yaml", "spec:\n  text: hello\n", shown[3])
	}
	if steps >= 6 {
		replace(t, dir, "mine_test.go", `"spec", "text"`, `"spec", "title"`)
	}
}

func replace(t *testing.T, dir, file, before, after string) {
	t.Helper()
	file = filepath.Join(dir, file)
	text := string(contents(t, file))
	if strings.Count(text, before) != 1 {
		t.Fatalf("%s has %q %d times, want once", file, before, strings.Count(text, before))
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, before, after, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func between(t *testing.T, dir, file, first, next, text string) {
	t.Helper()
	_, after, _ := strings.Cut(string(contents(t, filepath.Join(dir, file))), first)
	before, _, found := strings.Cut(after, next)
	if !found {
		t.Fatalf("%s has no %s before %s", file, first, next)
	}
	replace(t, dir, file, first+before, text)
}

// What is copied passes its tests in a folder of its own, under other names, and with the fields
// that the README shows.
func TestMine(t *testing.T) {
	dir := newTicket(t)
	if output, err := call(dir, "make", "test"); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	if unformatted, err := call(dir, "gofmt", "-l", "."); err != nil || unformatted != "" {
		t.Errorf("gofmt would change %s (%v)", unformatted, err)
	}
	left, _ := call(dir, "grep", "-rilE", "widget|example.com/mine|mine.example.com", "--exclude=names.sh", ".")
	if left != "" {
		t.Errorf("the old names are left in %s", left)
	}
}

// With COPY=1 nothing outside of the folder is needed but what a module proxy has.
func TestCopy(t *testing.T) {
	dir := newMine(t, "COPY=1")
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if output, err := call(moved, "make", "test"); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	if at, err := call(moved, "go", "list", "-m", "-f", "{{.Replace}}", "example.com/byhand"); err != nil || at != "./byhand\n" {
		t.Errorf("byhand is at %s (%v), want ./byhand", at, err)
	}
}

// It stays small: twelve files and 700 lines of Go and YAML.
func TestSize(t *testing.T) {
	files, lines := 0, 0
	for _, pattern := range []string{"*.go", "config/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(repository, "tools/new/controller", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			files, lines = files+1, lines+strings.Count(string(contents(t, file)), "\n")
		}
	}
	if files < 9 || files > 12 || lines > 700 {
		t.Errorf("mine has %d files and %d lines of Go and YAML, want 12 and 700 at most", files, lines)
	}
}

// Names that cannot be are refused before a file is touched; those that can are all replaced.
func TestMineNames(t *testing.T) {
	dir := newMine(t)
	for _, test := range []struct{ name, says string }{
		{"", "which names? make names KIND=Ticket"},
		{"KIND=ticket", "KIND=ticket: it must be like Ticket"},
		{"KIND=Help-Desk", "it must be like Ticket"},
		{"KIND=Client", "has this name. Take another one"},
		{"KIND=Worker", "has this name. Take another one"},
		{"PLURAL=Tickets", "PLURAL=Tickets: it must be like tickets"},
		{"PLURAL=range", "has this name. Take another one"},
		{"PLURAL=my-things", "PLURAL=my-things: it must be like tickets"},
		{"GROUP=desk", "GROUP=desk: it must be like desk.example.com"},
		{"GROUP=Desk.example.com", "it must be like desk.example.com"},
		{"GROUP=desk.k8s.io", "that is reserved for Kubernetes"},
		{"VERSION=1", "VERSION=1: it must be like v1beta1"},
		{"MODULE=example.com/my desk", "it must be like example.com/desk"},
	} {
		args := []string{"-s", "names"}
		if test.name != "" {
			args = append(args, test.name)
		}
		if output, err := call(dir, "make", args...); err == nil || !strings.Contains(output, test.says) {
			t.Errorf("make names %s: error %v, it says %swanted: %s", test.name, err, output, test.says)
		}
	}
	original := contents(t, filepath.Join(repository, "tools/new/controller", "register.go"))
	if !slices.Equal(contents(t, filepath.Join(dir, "register.go")), original) {
		t.Error("a name that was refused has changed register.go")
	}
	for _, name := range []string{"KIND=WidgetPolicy", "GROUP=widgets.example.com"} {
		if output, err := call(dir, "make", "names", name); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	if text := string(contents(t, filepath.Join(dir, "config", "crd.yaml"))); !strings.Contains(text, "name: widgetpolicies.widgets.example.com}") {
		t.Errorf("config/crd.yaml is not of widgetpolicies.widgets.example.com:\n%s", text)
	}
	if output, err := call(dir, "make", "names", "GROUP=other.example.com"); err == nil || !strings.Contains(output, "it was renamed already") {
		t.Errorf("a second name: error %v, it says %s", err, output)
	}
}
