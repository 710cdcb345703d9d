package observer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	// maxUnread is how many bytes a Log holds for a reader that is slow.
	maxUnread = 16 << 20
	// lastWords is how long Flush waits.
	lastWords = time.Second
)

// Log is a writer that makes no caller wait: for the story, for klog's lines. It is
// safe for concurrent use. If its reader does not take them the oldest lines go, and a line
// says how many.
type Log struct {
	out io.Writer
	// silent says not to write how many.
	silent   bool
	harmless bool

	mu      sync.Mutex
	missing int // lines, before unread
	unread  []byte
	written chan struct{} // closed when write returns, nil while it does not run
}

// NewLog returns a Log of what other programs may have written, such as an error with an
// answer of a webhook in it: it shows control characters and does not pass them on to a terminal.
func NewLog(out io.Writer) *Log { return &Log{out: out, harmless: true} }

// Write takes whole lines and returns at once.
func (l *Log) Write(lines []byte) (n int, err error) {
	n = len(lines)
	if l.harmless {
		texts := strings.Split(string(lines), "\n")
		for i, text := range texts {
			texts[i] = Harmless(text)
		}
		lines = []byte(strings.Join(texts, "\n"))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.unread)+len(lines) > maxUnread {
		l.missing, l.unread = l.missing+countLines(l.unread), nil
	}
	l.unread = append(l.unread, lines...)
	if l.written == nil {
		l.written = make(chan struct{})
		go l.write()
	}
	return n, nil
}

// write writes until nothing is unread.
func (l *Log) write() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.unread) > 0 {
		missing, lines := l.missing, l.unread
		l.missing, l.unread = 0, nil
		l.mu.Unlock()
		text := lines
		if missing > 0 && !l.silent {
			text = fmt.Appendf(nil, "%d lines not shown\n%s", missing, lines)
		}
		_, err := l.out.Write(text)
		l.mu.Lock()
		if err != nil {
			l.missing += missing + countLines(lines)
		}
	}
	close(l.written)
	l.written = nil
}

func countLines(text []byte) int { return bytes.Count(text, []byte("\n")) }

// Flush waits until what was written before is read: a second, for a reader that does not
// read.
func (l *Log) Flush() {
	l.mu.Lock()
	written := l.written
	l.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-time.After(lastWords):
	}
}
