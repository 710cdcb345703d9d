package main

import (
	"bytes"
	"os"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := progress{out: &out, format: "%[1]d of %[2]d, %[3]s", of: 5}
	wantOutput := func(want string) {
		t.Helper()
		if out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
		out.Reset()
	}

	p.finish() // nothing was done: nothing to say
	wantOutput("")
	p.step("one")
	p.step("two")
	wantOutput("")

	// Five seconds later.
	p.start, p.last = p.start.Add(-5*time.Second), p.last.Add(-5*time.Second)
	p.step("three")
	p.step("four")
	wantOutput("3 of 5, 5s, now three\n")
	p.step("five")
	wantOutput("5 of 5, 5s, now linking the programs\n")
	p.finish()
	wantOutput("5 of 5, 5s\n")
}

// Of what is no terminal, nothing is written over: not of a file, a pipe or a buffer.
func TestIsTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if isTerminal(file) || isTerminal(write) || isTerminal(&bytes.Buffer{}) {
		t.Error("a file, a pipe or a buffer counts as a terminal")
	}
}
