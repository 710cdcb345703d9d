package liveheap_test

import (
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"

	"example.com/byhand/compare/peers/liveheap"
)

// What is kept is counted, and what was thrown away is not.
func TestLiveHeap(t *testing.T) {
	// Nothing is collected unless it is asked for.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := ask(t)
	runtime.KeepAlive(make([]byte, 64<<20)) // garbage from here on
	kept := make([]byte, 8<<20)
	if more := ask(t) - before; more < 7<<20 || more > 9<<20 {
		t.Errorf("%d bytes more with 8 MiB alive", more)
	}
	runtime.KeepAlive(kept)
}

// ask sends the signal to this process and returns its answer.
func ask(t *testing.T) int {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = in
	defer func() { os.Stderr = stderr }()
	if err := syscall.Kill(os.Getpid(), liveheap.Signal); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for liveheap.Line.Find(text) == nil {
		more := make([]byte, 100)
		n, err := out.Read(more)
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		text = append(text, more[:n]...)
	}
	bytes, err := strconv.Atoi(string(liveheap.Line.FindSubmatch(text)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
