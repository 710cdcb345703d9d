package compare

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
)

// ownPackage is a package of api whose DeepCopy methods are held against those that
// deepcopy-gen writes for the same types.go.
type ownPackage struct {
	// Name is the package's name among all of them, Folder the one below api.
	Name, Folder string
	// Types are those that are copied.
	Types []string
}

var (
	structs = regexp.MustCompile(`(?m)^type (\w+) struct`)
	// objects are the types that embed TypeMeta.
	objects = regexp.MustCompile(`(?m)^type \w+ struct \{\n\tmetav1\.TypeMeta`)
	clause  = regexp.MustCompile(`(?m)^package .*`)
)

// ownPackages returns those that have one of the types in only, or all.
func ownPackages(tb testing.TB, only ...string) (all []ownPackage) {
	tb.Helper()
	files, err := filepath.Glob("../api/*/*/types.go")
	if err != nil || len(files) == 0 {
		tb.Fatalf("types.go is in the folders %v: %v", files, err)
	}
	for _, file := range files {
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../api/")
		own := ownPackage{Name: strings.NewReplacer("/", "", ".", "", "-", "").Replace(folder), Folder: folder}
		for _, match := range structs.FindAllStringSubmatch(contents(tb, file), -1) {
			if len(only) == 0 || slices.Contains(only, match[1]) {
				own.Types = append(own.Types, match[1])
			}
		}
		if own.Types != nil {
			all = append(all, own)
		}
	}
	return all
}

// generate runs deepcopy-gen on a copy of our types, in a folder of its own that is
// removed when tb ends. A test file made of a template of testdata stands beside the
// copies: it imports both kinds of methods. The folder's name is returned.
func generate(tb testing.TB, name string, packages []ownPackage) (dir string) {
	tb.Helper()
	dir, err := os.MkdirTemp(".", "_generated-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	dir = filepath.Clean(dir)
	arguments := []string{"tool", "deepcopy-gen", "--go-header-file", os.DevNull, "--output-file", "zz_generated.deepcopy.go"}
	for _, own := range packages {
		copied := filepath.Join(dir, own.Name)
		tagged(tb, filepath.Join("../api", own.Folder, "types.go"), copied)
		arguments = append(arguments, "./"+copied)
	}
	command(tb, "go", arguments...)

	var text strings.Builder
	err = template.Must(template.New("").Parse(contents(tb, name))).Execute(&text, map[string]any{"Dir": dir, "Packages": packages})
	if err != nil {
		tb.Fatal(err)
	}
	store(tb, filepath.Join(dir, "generated_test.go"), text.String())
	return dir
}

// tagged copies a types.go and adds the comments that deepcopy-gen goes by.
func tagged(tb testing.TB, types, dir string) {
	tb.Helper()
	text := objects.ReplaceAllString(contents(tb, types), "// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object\n$0")
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	// The generator takes a folder's name for that of its package.
	name := "package " + filepath.Base(dir)
	store(tb, filepath.Join(dir, "types.go"), clause.ReplaceAllString(text, name))
	store(tb, filepath.Join(dir, "doc.go"), "// +k8s:deepcopy-gen=package\n\n"+name+"\n")
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
