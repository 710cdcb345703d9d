package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/perf/benchfmt"
)

// The units of what is measured, beside sec/op, which benchstat knows.
const (
	perSecond = "foos/s"
	// restPerSecond counts until the last write, not until the last status.
	restPerSecond = "rest-foos/s"
	writesEach    = "writes/foo"
	readsEach     = "reads/foo"
	eventsEach    = "events/foo"
	events        = "events"
	writes        = "writes"
	reads         = "reads"
	conflicts     = "409s"
	cpuSeconds    = "cpu-sec"
	peakMemory    = "peak-RSS-B"
	memory        = "RSS-B"
	liveMemory    = "live-B"
	p50           = "p50-sec"
	p99           = "p99-sec"
)

// higherIsBetter are the only such units of the harness.
var higherIsBetter = []string{perSecond, restPerSecond}

// raw writes measurements in the Go benchmark format,
// https://go.dev/design/14313-benchmark-format, one line each, so that benchstat
// reads them.
type raw struct {
	mu     sync.Mutex
	out    io.WriteCloser
	writer *benchfmt.Writer
	config []benchfmt.Config
}

// createRaw begins a file with what is known about the machine.
func createRaw(file string, about []benchfmt.Config) (*raw, error) {
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	return beginRaw(out, about)
}

// appendRaw goes on with a file that was made on such a machine.
func appendRaw(file string, about []benchfmt.Config) (*raw, error) {
	out, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("nothing to append to: %w", err)
	}
	before, err := readRaw(out, file)
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	for _, config := range about {
		was, is := before.where(config.Key), string(config.Value)
		if was != is && config.Key != "command" && config.Key != "fsync-time" {
			return nil, errors.Join(fmt.Errorf("%s was measured with %s %q, this is %q: measure all of it anew, or give another -out", file, config.Key, was, is), out.Close())
		}
	}
	return beginRaw(out, about)
}

func beginRaw(out io.WriteCloser, about []benchfmt.Config) (*raw, error) {
	var err error
	r := &raw{out: out, writer: benchfmt.NewWriter(out), config: about}
	for _, unit := range higherIsBetter {
		err = errors.Join(err, r.writer.Write(&benchfmt.UnitMetadata{
			UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: "higher"}))
	}
	return r, err
}

// value is a measurement. Six digits are more than any of them deserves.
func value(v float64, unit string) benchfmt.Value {
	if v != 0 && !math.IsInf(v, 0) && !math.IsNaN(v) {
		scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
		v = math.Round(v*scale) / scale
	}
	return benchfmt.Value{Value: v, Unit: unit}
}

// add writes one line: what was measured, averaged over so many operations.
func (r *raw) add(name string, iterations int, values ...benchfmt.Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writer.Write(&benchfmt.Result{Config: r.config, Name: benchfmt.Name(name), Iters: iterations, Values: values})
}

// meaning says in words what a unit stands for. The format has no words: their spaces
// become underscores.
func (r *raw) meaning(unit, words string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writer.Write(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: meaning},
		OrigUnit: unit, Value: strings.ReplaceAll(words, " ", "_")})
}

// meaning is the key of such unit metadata.
const meaning = "meaning"

// text adds the output of go test -bench as it is.
func (r *raw) text(output []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := fmt.Fprintf(r.out, "\n%s\n", bytes.TrimSpace(output))
	return err
}

func (r *raw) close() error { return r.out.Close() }

// figures are the measurements of a file: for each name the lines in their order.
type figures struct {
	names []string // in order of appearance
	lines map[string][]line
	// about is the fullest configuration of a line: go test says less than the harness.
	about []benchfmt.Config
	// commands are those that have measured, in their order.
	commands []string
	// units are those that were given a meaning, in words, in their order.
	units   []string
	meaning map[string]string
}

// line is one measurement; its units are benchstat's: sec and B, never ns or MB.
type line map[string]float64

// readRaw reads a file in the Go benchmark format.
func readRaw(in io.Reader, name string) (*figures, error) {
	f := &figures{lines: map[string][]line{}, meaning: map[string]string{}}
	reader := benchfmt.NewReader(in, name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.UnitMetadata:
			if record.Key == meaning {
				f.units = append(f.units, record.Unit)
				f.meaning[record.Unit] = strings.ReplaceAll(record.Value, "_", " ")
			}
		case *benchfmt.Result:
			if len(record.Config) > len(f.about) {
				f.about = record.Clone().Config
			}
			if command := record.GetConfig("command"); command != "" && !slices.Contains(f.commands, command) {
				f.commands = append(f.commands, command)
			}
			f.add(record)
		}
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	if len(f.names) == 0 {
		return nil, errors.New(name + " holds no measurements")
	}
	return f, nil
}

func (f *figures) add(result *benchfmt.Result) {
	// Without the number of CPUs that go test appends.
	base, parts := result.Name.Parts()
	name := string(base)
	for _, part := range parts {
		if part[0] == '/' {
			name += string(part)
		}
	}
	if _, ok := f.lines[name]; !ok {
		f.names = append(f.names, name)
	}
	l := line{}
	for _, v := range result.Values {
		l[v.Unit] = v.Value
	}
	f.lines[name] = append(f.lines[name], l)
}

// values returns the measurements of a name in one unit, in their order.
func (f *figures) values(name, unit string) []float64 {
	var all []float64
	for _, l := range f.lines[name] {
		if v, ok := l[unit]; ok {
			all = append(all, v)
		}
	}
	return all
}

// has reports whether anything of this base name was measured.
func (f *figures) has(base string) bool {
	return slices.ContainsFunc(f.names, func(name string) bool { return name == base || strings.HasPrefix(name, base+"/") })
}

// where returns the value of a configuration key, "" if there is none.
func (f *figures) where(key string) string {
	for _, config := range f.about {
		if config.Key == key {
			return string(config.Value)
		}
	}
	return ""
}
