// Package liveheap makes a program that imports it say how much of its heap is alive: on Signal
// it collects its garbage and prints to the standard error a line that Line matches.
package liveheap

import (
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
)

// Signal asks.
const Signal = syscall.SIGUSR1

// Line matches the answer and captures the number of bytes.
var Line = regexp.MustCompile(`(?m)^live heap: (\d+) bytes$`)

func init() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, Signal)
	go func() {
		for range asked {
			// What pools hold outlives one collection.
			runtime.GC()
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			fmt.Fprintf(os.Stderr, "\nlive heap: %d bytes\n", stats.HeapAlloc)
		}
	}()
}
