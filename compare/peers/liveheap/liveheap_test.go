package liveheap_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"example.com/byhand/compare/peers/liveheap"
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
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the test closes it
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
	end, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = end.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if lines.Text() == "ready" {
			if err := cmd.Process.Signal(liveheap.Signal); err != nil {
				t.Fatal(err)
			}
		}
		if answer := liveheap.Line.FindStringSubmatch(lines.Text()); answer != nil {
			live, err := strconv.Atoi(answer[1])
			if err != nil {
				t.Fatal(err)
			}
			return live
		}
	}
	t.Fatalf("no answer: %v", lines.Err())
	return 0
}
