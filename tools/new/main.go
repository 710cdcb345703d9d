// Command new creates a program in a new folder. Two make targets run it:
//
//	make new DIR=../desk KIND=Ticket GROUP=desk.example.com    a controller of your own kind
//	make exercise DIR=../mine                                  the exercise: a Foo controller
//
// It reads the variables of make from its environment, and its files from the repository in whose folder it
// runs. It creates all files in memory and checks them first: nothing is written if a name or the folder is wrong.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: make new DIR=../desk, or make exercise DIR=../mine")
		os.Exit(2)
	}
	message, err := begin(".", os.Args[1], os.Getenv)
	if err != nil {
		fmt.Fprintf(os.Stderr, "make %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	fmt.Print(message)
}

// begin writes the folder. get returns a variable of make, "" if it is not set. message describes the next
// step.
func begin(repository, what string, get func(variable string) string) (message string, err error) {
	root, err := filepath.Abs(repository)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", err
	}
	dir := get("DIR")
	if err := checkFolder(root, dir, what); err != nil {
		return "", err
	}
	files := folder{}
	if what == "exercise" {
		message, err = exercise(root, dir, files)
	} else {
		message, err = newController(root, dir, get, files)
	}
	if err != nil {
		return "", err
	}
	return message, files.write(dir)
}

// checkFolder returns an error unless dir can be made, or is an empty folder, outside of the repository.
func checkFolder(root, dir, what string) error {
	example := "make " + what + " DIR=" + map[bool]string{true: "../mine", false: "../desk"}[what == "exercise"]
	if dir == "" {
		return errors.New("which folder? " + example)
	}
	above, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	// dir may not exist. Then the closest existing folder above it determines its place.
	info, err := os.Stat(above)
	for err != nil && above != filepath.Dir(above) {
		above = filepath.Dir(above)
		info, err = os.Stat(above)
	}
	if err != nil || !info.IsDir() {
		return fmt.Errorf("%s is a file, not a folder: choose another folder, as in %s", above, example)
	}
	real, err := filepath.EvalSymlinks(above)
	if err != nil {
		return err
	}
	if strings.HasPrefix(real+string(filepath.Separator), root+string(filepath.Separator)) {
		return fmt.Errorf("%s is inside this repository: choose a folder outside, as in %s", dir, example)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		return fmt.Errorf("%s is not empty: choose another folder", dir)
	}
	return nil
}

type folder map[string][]byte

func (f folder) add(file, from string) error {
	text, err := os.ReadFile(from)
	f[file] = text
	return err
}

// addTree reads a folder of the repository, without the programs that were built there.
func (f folder) addTree(from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == filepath.Join(from, "bin") {
			return filepath.SkipDir
		}
		file, _ := filepath.Rel(from, path)
		if entry.IsDir() || file == "controller" {
			return nil
		}
		return f.add(file, path)
	})
}

// replace replaces a text that a file must have once.
func (f folder) replace(file, before, after string) error {
	if count := strings.Count(string(f[file]), before); count != 1 {
		return fmt.Errorf("%s has %q %d times: this repository is incomplete", file, before, count)
	}
	f[file] = []byte(strings.Replace(string(f[file]), before, after, 1))
	return nil
}

func (f folder) write(dir string) error {
	for file, text := range f {
		path := filepath.Join(dir, file)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, text, 0o666)
		}
		if err != nil {
			return fmt.Errorf("you may not write to %s: %w", dir, err)
		}
	}
	return nil
}

const byhand = "example.com/byhand"

// newController adds the files of tools/new/controller, with the names that get returns, and with COPY=1 each
// package of this repository that they need.
func newController(root, dir string, get func(string) string, files folder) (message string, err error) {
	names, err := readNames(get)
	if err != nil {
		return "", err
	}
	if err := files.addTree(filepath.Join(root, "tools/new/controller")); err != nil {
		return "", err
	}
	var imported []string
	for file, text := range files {
		if filepath.Ext(file) == ".go" {
			imported = append(imported, importsOf(text)...)
		}
	}
	if err := names.apply(files); err != nil {
		return "", err
	}
	at := root
	if get("COPY") != "" {
		at = "./byhand"
		err = files.copyPackages(root, imported)
	}
	err = cmp.Or(err, files.replace("go.mod", "=> ../../..", "=> "+strconv.Quote(at)))
	return fmt.Sprintf("%s is yours. Its README.md leads on. The first step: cd %q && make test run\n", dir, dir), err
}

// ofTheLesson are the informers of this repository's kinds. No other program needs them.
var ofTheLesson = []string{"informer/project.go", "informer/foo.go", "informer/deployment.go"}

func (f folder) copyPackages(root string, packages []string) error {
	for _, file := range []string{"go.mod", "go.sum", "LICENSE"} {
		if err := f.add(filepath.Join("byhand", file), filepath.Join(root, file)); err != nil {
			return err
		}
	}
	for done := map[string]bool{}; len(packages) > 0; packages = packages[1:] {
		dir, isOurs := strings.CutPrefix(packages[0], byhand+"/")
		if !isOurs || done[dir] {
			continue
		}
		done[dir] = true
		sources, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			return err
		}
		for _, source := range sources {
			file := filepath.Join(dir, filepath.Base(source))
			if strings.HasSuffix(file, "_test.go") || slices.Contains(ofTheLesson, filepath.ToSlash(file)) {
				continue
			}
			if err := f.add(filepath.Join("byhand", file), source); err != nil {
				return err
			}
			packages = append(packages, importsOf(f[filepath.Join("byhand", file)])...)
		}
	}
	return nil
}

// exercise adds the skeleton of the exercise. It needs the versions of this repository, so nothing is downloaded.
func exercise(root, dir string, files folder) (message string, err error) {
	for file, from := range map[string]string{
		"go.mod": "go.mod", "go.sum": "go.sum", "main.go": "tools/new/exercise/_skeleton/main.go",
		"README.md": "tools/new/exercise/README.md", ".gitignore": "tools/new/exercise/_skeleton/.gitignore",
	} {
		if err := files.add(file, filepath.Join(root, from)); err != nil {
			return "", err
		}
	}
	err = files.replace("go.mod", "module "+byhand+"\n", fmt.Sprintf("module example.com/mine\n\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n", byhand, root))
	program := filepath.Join(dir, "mine")
	if strings.Contains(program, " ") {
		program = "'" + program + "'" // The recipe of make judge is one more shell.
	}
	return fmt.Sprintf(`%s is yours. Its README.md leads on. The first command takes seconds and no Kubernetes:
  make judge QUICK=1 DIR=%[2]q JUDGE='-scenario create'
Later, on a real control plane (the first time builds it, about 8 minutes):
  go -C %[2]q build && make judge CONTROLLER="%s" JUDGE='-scenario create'
`, dir, dir, program), err
}
