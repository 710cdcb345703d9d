package observer

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
)

// writerFunc is an io.Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Neither a goroutine that logs nor Flush, and with it the end of the process, waits for a reader
// that does not read. What the reader misses is counted.
func TestLogWithoutReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		release := make(chan struct{})
		log := &Log{out: writerFunc(func(p []byte) (int, error) {
			<-release
			return out.Write(p)
		})}
		long := strings.Repeat("x", maxUnread/10-1) + "\n"
		for range 100 {
			_, _ = fmt.Fprint(log, long)
		}
		log.Flush()
		close(release)
		log.Flush()
		_, _ = fmt.Fprint(log, "the last\n")
		log.Flush()
		read := out.String()
		gap := fmt.Sprintf("\n%d lines not shown\n", 100-strings.Count(read, long))
		if strings.Count(read, gap) != 1 || !strings.HasPrefix(read, long) || !strings.HasSuffix(read, long+"the last\n") {
			t.Errorf("%d lines are read, want %q once, and the last ones after it", strings.Count(read, "\n"), gap)
		}
	})
}

// What klog writes of an error cannot change the terminal, not in its second line either.
func TestLogIsHarmless(t *testing.T) {
	var out bytes.Buffer
	log := NewLog(&out)
	const said = "E0101 failed: err=<\n\tdenied\x1b[2J\n >\n"
	n, _ := fmt.Fprint(log, said)
	log.Flush()
	if got, want := out.String(), "E0101 failed: err=<\n denied<U+001B>[2J\n >\n"; got != want || n != len(said) {
		t.Errorf("written %q of %d bytes, want %q of %d", got, n, want, len(said))
	}
}

// What could not be written is counted, and the rest is written.
func TestLogToFullDisk(t *testing.T) {
	var out bytes.Buffer
	full := false
	log := NewLog(writerFunc(func(p []byte) (int, error) {
		if full {
			return 0, syscall.ENOSPC
		}
		return out.Write(p)
	}))
	for i := range 6 {
		full = 1 <= i && i <= 3
		_, _ = fmt.Fprintf(log, "line %d\n", i)
		log.Flush()
	}
	const want = "line 0\n3 lines not shown\nline 4\nline 5\n"
	if got := out.String(); got != want {
		t.Errorf("written is %q, want %q", got, want)
	}
}
