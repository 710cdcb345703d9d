package testkit

import "runtime"

// LiveHeap returns the bytes of the heap that are in use. Before it counts, it collects twice:
// what the first time has only unlinked, and what a sync.Pool holds, outlives one.
func LiveHeap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
