package liveheap_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"example.com/byhand/compare/peers/liveheap"
	"example.com/byhand/internal/testkit/subprocess"
)

var garbage []byte

// TestMain also is the program that is asked: it keeps as many bytes as its environment
// says, and has thrown away half as many.
func TestMain(m *testing.M) {
	bytes, err := strconv.Atoi(os.Getenv("LIVEHEAP_BYTES"))
	if err != nil {
		os.Exit(m.Run())
	}
	kept := make([]byte, bytes)
	garbage = make([]byte, bytes/2)
	garbage = nil
	fmt.Fprintln(os.Stderr, "ready")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
	runtime.KeepAlive(kept)
}

// What is alive is counted, and what is garbage is not.
func TestLiveHeap(t *testing.T) {
	few, many := ask(t, 1<<20), ask(t, 9<<20)
	if more := many - few; more < 7<<20 || more > 9<<20 {
		t.Errorf("%d bytes with one MiB alive, %d with nine", few, many)
	}
}

func ask(t *testing.T, bytes int) int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("LIVEHEAP_BYTES=%d", bytes))
	if _, err := cmd.StdinPipe(); err != nil { // cmd keeps it open
		t.Fatal(err)
	}
	p := subprocess.Run(t, cmd, time.Minute)
	p.WaitFor("ready")
	p.Signal(liveheap.Signal)
	p.Prints(1, liveheap.Line.String())
	live, err := strconv.Atoi(liveheap.Line.FindStringSubmatch(p.Output())[1])
	if err != nil {
		t.Fatal(err)
	}
	return live
}
