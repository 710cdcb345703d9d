//go:build long

package schema

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A kind is added as CONTRIBUTING.md says under "Add a kind", with its commands and its lines of
// main.go, in a group that comes before ours. Its list names each file that must change, the test
// of this package names the lists in which the kind is missing, and at the end all tests pass.
func TestAddKind(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## Add a kind\n")
	text = strings.NewReplacer("stable", "desk", "Stable", "Desk").Replace(text)
	sed := regexp.MustCompile(`(?m)^sed '(.*)' clientset/foo.go >clientset/bar.go$`).FindStringSubmatch(text)
	wiring := regexp.MustCompile("(?s)### Two controllers\n.*?```go\n(.*?)```").FindStringSubmatch(text)
	list := regexp.MustCompile("(?m)^[0-9]+\\. `([^`]*)`.*$").FindAllStringSubmatch(text, -1)
	if sed == nil || wiring == nil || len(list) != 22 {
		t.Fatalf("it has the sed: %t, the lines of main.go: %t, and %d places", sed != nil, wiring != nil, len(list))
	}
	c := &checkout{t, t.TempDir(), sed[1], map[string]bool{}}
	c.clone()

	// The kind's own files, and those that let them compile.
	const (
		foos, bars     = "api/samplecontroller.k8s.io/v1alpha1/", "api/desk.example.com/v1alpha1/"
		client, fake   = "clientset/clientset.go", "clientset/fake/clientset.go"
		kinds, samples = "internal/kinds/kinds.go", "internal/testkit/samples/samples.go"
	)
	for from, to := range map[string]string{
		foos + "doc.go": bars + "doc.go", foos + "types.go": bars + "types.go", foos + "deepcopy.go": bars + "deepcopy.go", foos + "register.go": bars + "register.go",
		foos + "applyconfiguration/foo.go": bars + "applyconfiguration/bar.go",
		"clientset/foo.go":                 "clientset/bar.go", "clientset/fake/foo.go": "clientset/fake/bar.go",
		"config/crd/foos.samplecontroller.k8s.io.yaml": "config/crd/bars.desk.example.com.yaml", "config/samples/foo.yaml": "config/samples/bar.yaml",
	} {
		c.write(to, c.bars(c.read(from)))
	}
	c.write("informer/bar.go", strings.NewReplacer("Project", "Bar", "project", "bar", "Examples", "Desk", "examples-gzh", "desk.example").Replace(c.read("informer/project.go")))
	c.write("controller/bar/reconcile.go", reconcile)
	for _, both := range [][3]string{
		{"clientset/scheme.go", "\tsamplecontrollerv1alpha1 \"", ")"},
		{"clientset/scheme.go", "\tutilruntime.Must(samplecontroller", "}"},
		{client, "\tsamplecontrollerv1alpha1 \"", ")"},
		{client, "\t// SamplecontrollerV1alpha1 is", "}"},
		{client, "// SamplecontrollerV1alpha1Interface", "// Clientset talks"},
		{client, "\tsamplecontrollerV1alpha1 *", "}"},
		{client, "\t\tsamplecontrollerV1alpha1: &samplecontrollerV1alpha1Client{c}", "\t}"},
		{client, "// SamplecontrollerV1alpha1 implements", "type"},
		{client, "type samplecontrollerV1alpha1Client", "// timeoutOf"},
		{fake, "// SamplecontrollerV1alpha1 implements", "// IsWatch"},
		{fake, "type samplecontrollerV1alpha1 ", ""},
	} {
		c.double(both)
	}
	c.replace(client, "\tdiscoveryClient, ", "\tdesk, deskErr := restClientFor(&config, deskv1alpha1.SchemeGroupVersion, httpClient)\n\tdiscoveryClient, ")
	c.replace(client, "cmp.Or(", "cmp.Or(deskErr, ")
	c.replace(client, "{samplecontroller},\n", "{samplecontroller},\n\t\tdeskV1alpha1: &deskV1alpha1Client{desk},\n")

	told, err := c.run("go", "test", "./internal/tests/schema")
	for _, want := range []string{samples + " has no row of Bar", "config/crd/Kustomization names no bars", kinds + " names no bars", "main.go names no bars",
		"config/rbac/role.yaml does not allow [list watch] of bars", "config/rbac/editor_role.yaml does", "config/rbac/viewer_role.yaml does"} {
		if err == nil || !strings.Contains(told, want) {
			t.Errorf("TestKindsAreComplete does not say that %s; it says\n%s", want, told)
		}
	}

	// The lists.
	for _, both := range [][3]string{
		{"config/crd/Kustomization", "  - foos", "  - projects"},
		{"config/rbac/role.yaml", "  - apiGroups: [samplecontroller.k8s.io]\n    resources: [foos]\n", "  # The status"},
		{"config/rbac/editor_role.yaml", "  - apiGroups: [samplecontroller.k8s.io]\n    resources: [foos]\n", "  - apiGroups: [examples"},
		{"config/rbac/viewer_role.yaml", "  - apiGroups: [samplecontroller", "  - apiGroups: [examples"},
		{kinds, "\tsamplecontrollerv1alpha1 \"", "\t\""},
		{kinds, "\tFoo = ", "\tDeployment = "},
		{kinds, "func foo(", "func deployment("},
		{samples, "\tsamplecontrollerv1alpha1 \"", "\t\""},
		{samples, "// Foo is", "// Has reports"},
	} {
		c.double(both)
	}
	for _, change := range [][3]string{
		{kinds, "{Project, Foo,", "{Project, Foo, Bar,"},
		{samples, "{Project, Foo}", "{Project, Foo, Bar}"},
		{"main.go", c.part("main.go", "\tloops := ", "\tinformers := "), wiring[1]},
		{"main.go", "controller/foo\"\n", "controller/foo\"\n\"example.com/byhand/controller/bar\"\n"},
		{"main.go", "config.Host, kinds.Foo.GVK.GroupVersion()", "config.Host, kinds.Foo.GVK.GroupVersion(), kinds.Bar.GVK.GroupVersion()"},
		{"main_test.go", "16 workers start", "32 workers start"},
		{"main_test.go", "[1 foos.samplecontroller.k8s.io 2 deployments.apps]", "[1 foos.samplecontroller.k8s.io 2 deployments.apps 0 bars.desk.example.com]"},
		{"main_test.go", `"--kube-api-burst", "5"`, `"--kube-api-burst", "6"`},
	} {
		c.replace(change[0], change[1], change[2])
	}
	for _, command := range []string{"gofmt -w main.go clientset internal/kinds internal/testkit/samples", "go vet ./...", "go test -vet=off ./..."} {
		if said, err := c.run(strings.Fields(command)[0], strings.Fields(command)[1:]...); err != nil {
			t.Errorf("%s: %v\n%s", command, err, said)
		}
	}

	// What was changed is in the list, and what is in the list was changed.
	var named string
	for _, place := range list {
		named += place[0]
		// These two are for a reconcile that sends something, on a cluster.
		if path := place[1]; !c.changed[path] && path != "controller/bar" && path != "controller/bar/bar_test.go" && path != "internal/tests/e2e/rbac_test.go" {
			t.Errorf("the list names %s, which needs no change", path)
		}
	}
	for path := range c.changed {
		if !strings.Contains(named, filepath.Base(path)) && !strings.Contains(named, "`"+filepath.Dir(path)+"`") {
			t.Errorf("%s must change, and is not in the list", path)
		}
	}
}

// reconcile is one that does nothing.
const reconcile = `// Package bar reconciles Bars.
package bar

import (
	"context"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/clientset"
)

// Reconciler acts on Bars.
type Reconciler struct {
	Bars     clientset.BarsGetter
	BarStore cache.Indexer
}

// Reconcile has the contract of controller.Reconcile.
func (r *Reconciler) Reconcile(context.Context, cache.ObjectName) (requeueAfter time.Duration, err error) {
	return 0, nil
}
`

// checkout is a copy of this repository.
type checkout struct {
	*testing.T
	dir, sed string
	changed  map[string]bool
}

// clone copies it, without what is built.
func (c *checkout) clone() {
	entries, err := os.ReadDir("../../..")
	for _, entry := range entries {
		from, to := filepath.Join("../../..", entry.Name()), filepath.Join(c.dir, entry.Name())
		switch name := entry.Name(); {
		case name == ".git", name == "bin", err != nil:
		case entry.IsDir():
			err = os.CopyFS(to, os.DirFS(from))
		default:
			var content []byte
			if content, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, content, 0o644)
			}
		}
	}
	if err != nil {
		c.Fatal(err)
	}
}

func (c *checkout) read(file string) string {
	c.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir, file))
	if err != nil {
		c.Fatal(err)
	}
	return string(content)
}

func (c *checkout) write(file, content string) {
	c.Helper()
	c.changed[file] = true
	file = filepath.Join(c.dir, file)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(content), 0o644)
	}
	if err != nil {
		c.Fatal(err)
	}
}

func (c *checkout) replace(file, before, after string) {
	c.Helper()
	text := c.read(file)
	if strings.Count(text, before) != 1 {
		c.Fatalf("%s has %q %d times, want once", file, before, strings.Count(text, before))
	}
	c.write(file, strings.Replace(text, before, after, 1))
}

// part returns a file's text from first on, up to the line that begins with next or to the end.
func (c *checkout) part(file, first, next string) string {
	c.Helper()
	_, text, found := strings.Cut(c.read(file), first)
	if next != "" {
		text, _, _ = strings.Cut(text, "\n"+next)
		text += "\n"
	}
	if !found {
		c.Fatalf("%s has no %q", file, first)
	}
	return first + text
}

// double puts behind a part of a file, which speaks of Foos, the same of Bars.
func (c *checkout) double(fileFirstNext [3]string) {
	c.Helper()
	file := fileFirstNext[0]
	part := c.part(file, fileFirstNext[1], fileFirstNext[2])
	c.replace(file, part, part+"\n"+c.bars(part))
}

// bars is what the command of CONTRIBUTING.md makes of a text.
func (c *checkout) bars(text string) string {
	c.Helper()
	command := exec.Command("sed", c.sed)
	command.Stdin = strings.NewReader(text)
	output, err := command.Output()
	if err != nil {
		c.Fatal(err)
	}
	return string(output)
}

func (c *checkout) run(name string, args ...string) (output string, err error) {
	command := exec.Command(name, args...)
	command.Dir = c.dir
	text, err := command.CombinedOutput()
	return string(text), err
}
