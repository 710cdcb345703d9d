package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The page in the repository is made of the numbers beside it, by this code. It has peers with
// several rounds and with one, and sections of each sort.
func TestResultsAreUpToDate(t *testing.T) {
	const results = "../results"
	dir := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, os.DirFS(results)), writePage(dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pageFile, pictureFile} {
		got, err := os.ReadFile(filepath.Join(results, name))
		want, failed := os.ReadFile(filepath.Join(dir, name))
		if err := errors.Join(err, failed); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what raw.txt says (%v): go run ./harness -report", name, err)
		}
	}
}
