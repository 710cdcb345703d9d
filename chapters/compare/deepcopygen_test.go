package compare

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"
)

// ownPackage is a package of api. The test compares its DeepCopy methods with the methods that
// deepcopy-gen generates for the same types.go.
type ownPackage struct {
	// Name is the package's unique name, Folder its folder below api.
	Name, Folder string
	// Types are the types to copy.
	Types []string
}

var (
	structs = regexp.MustCompile(`(?m)^type (\w+) struct`)
	// objects are the types that embed TypeMeta.
	objects = regexp.MustCompile(`(?m)^type \w+ struct \{\n\tmetav1\.TypeMeta`)
	clause  = regexp.MustCompile(`(?m)^package .*`)
)

func ownPackages(t *testing.T) (all []ownPackage) {
	t.Helper()
	files, err := filepath.Glob("../../api/*/*/types.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("types.go is in the folders %v: %v", files, err)
	}
	for _, file := range files {
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../api/")
		own := ownPackage{Name: strings.NewReplacer("/", "", ".", "", "-", "").Replace(folder), Folder: folder}
		for _, match := range structs.FindAllStringSubmatch(contents(t, file), -1) {
			own.Types = append(own.Types, match[1])
		}
		all = append(all, own)
	}
	return all
}

// TestDeepCopyEqualsGenerated: deepcopy-gen's methods return the same copies as ours, with as many
// allocations. testdata/equal_test.go.txt compares them.
func TestDeepCopyEqualsGenerated(t *testing.T) {
	packages := ownPackages(t)
	dir, err := os.MkdirTemp(".", "_generated-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	dir = filepath.Clean(dir)
	arguments := []string{"tool", "deepcopy-gen", "--go-header-file", os.DevNull, "--output-file", "zz_generated.deepcopy.go"}
	for _, own := range packages {
		copied := filepath.Join(dir, own.Name)
		tagged(t, filepath.Join("../../api", own.Folder, "types.go"), copied)
		arguments = append(arguments, "./"+copied)
	}
	command(t, "go", arguments...)

	var text strings.Builder
	err = template.Must(template.New("").Parse(contents(t, "testdata/equal_test.go.txt"))).Execute(&text, map[string]any{"Dir": dir, "Packages": packages})
	if err != nil {
		t.Fatal(err)
	}
	store(t, filepath.Join(dir, "generated_test.go"), text.String())
	command(t, "go", "test", "-count=1", "./"+dir)
}

// tagged copies a types.go and adds deepcopy-gen's comments.
func tagged(t *testing.T, types, dir string) {
	t.Helper()
	text := objects.ReplaceAllString(contents(t, types), "// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object\n$0")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// The generator uses the folder's name as the package's name.
	name := "package " + filepath.Base(dir)
	store(t, filepath.Join(dir, "types.go"), clause.ReplaceAllString(text, name))
	store(t, filepath.Join(dir, "doc.go"), "// +k8s:deepcopy-gen=package\n\n"+name+"\n")
}

func contents(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func store(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if output, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}
