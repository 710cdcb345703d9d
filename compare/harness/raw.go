package main

import (
	"os"
	"sync"

	"golang.org/x/perf/benchfmt"
)

// The units of what is measured, beside sec/op, which benchstat knows.
const (
	perSecond = "foos/s"
	// restPerSecond counts until the last write, not until the last status.
	restPerSecond = "rest-foos/s"
	writesEach    = "writes/foo"
	eventsEach    = "events/foo"
	conflicts     = "409s"
	cpuSeconds    = "cpu-sec"
	serverSeconds = "servers-cpu-sec" // of the API server and etcd
	peakMemory    = "peak-RSS-B"
	memory        = "RSS-B"
	p50           = "p50-sec"
	p99           = "p99-sec"
	aloneP50      = "alone-p50-sec"
	aloneP99      = "alone-p99-sec"
)

// raw writes measurements in the Go benchmark format,
// https://go.dev/design/14313-benchmark-format, one line each, so that benchstat
// reads them.
type raw struct {
	mu     sync.Mutex
	file   *os.File
	writer *benchfmt.Writer
	config []benchfmt.Config
}

// openRaw begins a file with what is known about the machine.
func openRaw(name string, about []benchfmt.Config) (*raw, error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	r := &raw{file: file, writer: benchfmt.NewWriter(file), config: about}
	// Of all others, less is better.
	for _, unit := range []string{perSecond, restPerSecond, ratio(perSecond), ratio(restPerSecond)} {
		if err := r.writer.Write(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: "higher"}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// value is a measurement.
func value(v float64, unit string) benchfmt.Value { return benchfmt.Value{Value: v, Unit: unit} }

// add writes one line: what was measured, averaged over so many operations.
func (r *raw) add(name string, iterations int, values ...benchfmt.Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writer.Write(&benchfmt.Result{Config: r.config, Name: benchfmt.Name(name), Iters: iterations, Values: values})
}

func (r *raw) close() error { return r.file.Close() }
