package compare

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// generate runs deepcopy-gen on a copy of our types, in a folder of its own that is
// removed when tb ends. A test file made of a template of testdata stands beside the
// copies: it imports both kinds of methods. The folder's name is returned.
func generate(tb testing.TB, template string) (dir string) {
	tb.Helper()
	dir, err := os.MkdirTemp(".", "_generated-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	dir = filepath.Clean(dir)
	arguments := []string{"tool", "deepcopy-gen", "--go-header-file", os.DevNull, "--output-file", "zz_generated.deepcopy.go"}
	for name, types := range ownTypes {
		tagged(tb, types, filepath.Join(dir, name))
		arguments = append(arguments, "./"+filepath.Join(dir, name))
	}
	command(tb, "go", arguments...)

	text := strings.ReplaceAll(contents(tb, template), "example.com/byhand/compare/generated", "example.com/byhand/compare/"+dir)
	store(tb, filepath.Join(dir, "generated_test.go"), text)
	return dir
}

// tagged copies a types.go and adds the comments that deepcopy-gen goes by.
func tagged(tb testing.TB, types, dir string) {
	tb.Helper()
	text := kinds.ReplaceAllString(contents(tb, types), "// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object\n$0")
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	// The generator takes a folder's name for that of its package.
	clause := "package " + filepath.Base(dir)
	store(tb, filepath.Join(dir, "types.go"), strings.Replace(text, "package v1alpha1", clause, 1))
	store(tb, filepath.Join(dir, "doc.go"), "// +k8s:deepcopy-gen=package\n\n"+clause+"\n")
}

func contents(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func store(tb testing.TB, file, text string) {
	tb.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// command runs a program and returns what it wrote to stdout.
func command(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	cmd := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}
