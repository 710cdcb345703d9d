package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The page in the repository is made of the numbers beside it, by this code. It has peers with
// several rounds and with one, and sections of each sort.
func TestResultsAreUpToDate(t *testing.T) {
	const results = "../results"
	numbers, err := os.ReadFile(filepath.Join(results, rawFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, rawFile), numbers, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(dir); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range made {
		want, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(results, file.Name()))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what raw.txt says (%v): go run ./harness -report", file.Name(), err)
		}
	}
}
