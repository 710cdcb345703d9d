package testkit

import "runtime"

// LiveHeap returns the bytes of the heap in use. It runs the garbage collector twice: some objects, such as the
// ones in a sync.Pool, survive the first run.
func LiveHeap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
