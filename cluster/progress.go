package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress prints a line every few seconds: format gets the steps done, the steps in all
// and the time since the first. On a terminal it is one line, so that what was said before
// stays in sight.
type progress struct {
	out         io.Writer
	format      string
	of, done    int
	start, last time.Time
}

// width is that of a line on any terminal. A longer one would be wrapped, and stay.
const width = 79

// step is called when something begins, a package to compile for example.
func (p *progress) step(what string) {
	now := time.Now()
	if p.done == 0 {
		p.start, p.last = now, now
	}
	p.done++
	if p.done == p.of {
		what = "linking the programs"
	} else if now.Sub(p.last) < 5*time.Second {
		return
	}
	p.last = now
	p.print(", now "+what, "")
}

func (p *progress) finish() {
	if p.done > 0 {
		p.print("", "\n")
	}
}

// print prints how far it is, what is being done, and on a terminal the given end.
func (p *progress) print(what, end string) {
	line := fmt.Sprintf(p.format, p.done, p.of, time.Since(p.start).Round(time.Second)) + what
	if isTerminal(p.out) {
		fmt.Fprintf(p.out, "\r\x1b[K%.*s%s", width, line, end)
	} else {
		fmt.Fprintln(p.out, line)
	}
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
