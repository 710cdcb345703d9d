package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress prints a line every few seconds: format gets the steps done, the steps in all
// (0: it is not known, and without a step there is nothing to say) and the time. On a terminal
// it is one line, so that what was said before stays in sight.
type progress struct {
	out    io.Writer
	format string
	of     int

	mu    sync.Mutex
	start time.Time
	done  int
	now   string // what is being done
}

const (
	printEvery = 5 * time.Second
	// width is that of a line on any terminal. A longer one would be wrapped, and stay.
	width = 79
)

// begin prints until finish is called. now is what is being done before the first step.
func (p *progress) begin(now string) (finish func()) {
	p.start, p.now = time.Now(), now
	ended := make(chan struct{})
	var printing sync.WaitGroup
	printing.Go(func() {
		ticker := time.NewTicker(printEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.print("")
			case <-ended:
				p.now = ""
				p.print("\n")
				return
			}
		}
	})
	return func() {
		close(ended)
		printing.Wait()
	}
}

// step is called when something begins, a package to compile for example.
func (p *progress) step(now string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.now = now
}

// print prints how far it is, and on a terminal the given end.
func (p *progress) print(end string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done == 0 && p.of == 0 {
		return
	}
	line := fmt.Sprintf(p.format, p.done, p.of, time.Since(p.start).Round(time.Second))
	if p.now != "" {
		line += ", now " + p.now
	}
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
