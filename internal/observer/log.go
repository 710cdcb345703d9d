package observer

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// mostUnread is how many bytes a Log holds for a reader that is slow.
const mostUnread = 16 << 20

// Log is a writer that never makes anybody wait: for the story, for klog's lines. It is
// safe for concurrent use. Lines that its reader does not take are missing, and a line
// says how many.
type Log struct {
	out io.Writer
	// silent leaves out that line.
	silent bool

	mu      sync.Mutex
	unread  []byte
	missing int           // lines, after unread
	written chan struct{} // closed when all that was unread is written, nil if it is
}

// NewLog returns a Log that writes to out.
func NewLog(out io.Writer) *Log { return &Log{out: out} }

// Write takes whole lines and returns at once.
func (l *Log) Write(lines []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.unread)+len(lines) > mostUnread {
		l.missing += bytes.Count(lines, []byte("\n"))
		return len(lines), nil
	}
	if l.missing > 0 && !l.silent {
		l.unread = fmt.Appendf(l.unread, "%d lines not shown\n", l.missing)
	}
	l.missing = 0
	l.unread = append(l.unread, lines...)
	if l.written == nil {
		l.written = make(chan struct{})
		go l.write()
	}
	return len(lines), nil
}

// write writes until nothing is unread.
func (l *Log) write() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.unread) > 0 {
		lines := l.unread
		l.unread = nil
		l.mu.Unlock()
		n, err := l.out.Write(lines)
		l.mu.Lock()
		if err != nil {
			l.missing += bytes.Count(lines[n:], []byte("\n"))
		}
	}
	close(l.written)
	l.written = nil
}

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
