package main

import "golang.org/x/perf/benchfmt"

// The units of what is measured, beside sec/op, which benchstat knows.
const (
	perSecond = "foos/s"
	// restPerSecond counts until the last write, not until the last status.
	restPerSecond = "rest-foos/s"
	writesEach    = "writes/foo"
	eventsEach    = "events/foo"
	conflicts     = "409s"
	cpuSeconds    = "cpu-sec"
	cpuEach       = "cpu-sec/foo"
	serverSeconds = "servers-cpu-sec" // of the API server and etcd
	serverEach    = "servers-cpu-sec/foo"
	peakMemory    = "peak-RSS-B"
	fileMemory    = "file-RSS-B" // pages of the program
	liveMemory    = "live-B"
	p50           = "p50-sec"
	p99           = "p99-sec"
	aloneP50      = "alone-p50-sec"
	aloneP99      = "alone-p99-sec"
)

// value is a measurement.
func value(v float64, unit string) benchfmt.Value { return benchfmt.Value{Value: v, Unit: unit} }

// write adds a line to the measurements, in the Go benchmark format,
// https://go.dev/design/14313-benchmark-format: what was measured, averaged over so many
// operations.
func (b *bench) write(name string, operations int, values ...benchfmt.Value) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.raw.Write(&benchfmt.Result{Config: b.about, Name: benchfmt.Name(name), Iters: operations, Values: values})
}
