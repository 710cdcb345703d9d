package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Two rounds of a cold start, and one of what one peer did with fewer Foos.
const rawText = `cores: 2
command: go run ./harness -peers 'byhand|floor'
etcd-fsync: on

BenchmarkColdStart/foos=1000/peer=byhand 1 4 sec/op 250 foos/s 200 rest-foos/s 2 writes/foo 0 409s 0.3 events/foo 1.5 cpu-sec 41943040 peak-RSS-B
BenchmarkColdStart/foos=1000/peer=controller-runtime 1 5 sec/op 200 foos/s 100 rest-foos/s 2.57 writes/foo 570 409s 1 events/foo 1.4 cpu-sec 52428800 peak-RSS-B
BenchmarkColdStart/foos=1000/peer=floor 1 2.5 sec/op 400 foos/s 2 writes/foo 0 409s 0 events/foo 0.5 cpu-sec 31457280 peak-RSS-B
BenchmarkColdStart/foos=1000/peer=byhand 1 3 sec/op 350 foos/s 2 writes/foo 0 409s 0.3 events/foo 1.5 cpu-sec 41943040 peak-RSS-B
BenchmarkColdStart/foos=1000/peer=controller-runtime 1 10 sec/op 100 foos/s 2.57 writes/foo 580 409s 1 events/foo 1.4 cpu-sec 52428800 peak-RSS-B
BenchmarkColdStart/foos=1000/peer=floor 1 2 sec/op 500 foos/s 2 writes/foo 0 409s 0 events/foo 0.5 cpu-sec 31457280 peak-RSS-B
BenchmarkColdStart/foos=50/peer=sample-controller 1 10 sec/op 5 foos/s 3 writes/foo 0 409s 2 events/foo 0.1 cpu-sec 20971520 peak-RSS-B
BenchmarkColdStart/foos=1000/peer=floor-watch 1 2.5 sec/op 400 foos/s 2 writes/foo 0 409s 0 events/foo 0.5 cpu-sec 31457280 peak-RSS-B
BenchmarkWorkers/workers=8/foos=1000/peer=byhand 1 4 sec/op 100 foos/s
BenchmarkWorkers/workers=8/foos=1000/peer=floor 1 4 sec/op 200 foos/s
BenchmarkWorkers/workers=32/foos=1000/peer=byhand 1 4 sec/op 400 foos/s
BenchmarkWorkers/workers=32/foos=1000/peer=floor 1 4 sec/op 500 foos/s
BenchmarkBacklog/foo=new/foos=5000/peer=byhand 100 6 sec/op 6 p50-sec 12 p99-sec
BenchmarkBacklog/foo=new/foos=5000/peer=controller-runtime 100 0.04 sec/op 0.04 p50-sec 0.3 p99-sec
BenchmarkCacheSync/foos=100/peer=byhand 1 1 sec/op 1000100 live-B
BenchmarkCacheSync/foos=1100/peer=byhand 1 2 sec/op 2000100 live-B
BenchmarkFailover/end=clean/foos=1/peer=byhand 1 1.5 sec/op
BenchmarkGet/wire=json/client=bare-2 10 1000 ns/op 10 B/op 1 allocs/op
BenchmarkGet/wire=json/client=generated-2 10 3000 ns/op 64 B/op 3 allocs/op
BenchmarkGet/wire=json/client=byhand-2 10 2000 ns/op 64 B/op 4 allocs/op
Unit read-lines meaning=own_lines_to_read
BenchmarkCarry/peer=byhand 1 1799 read-lines
`

func TestTables(t *testing.T) {
	f := read(t, rawText)
	for name, test := range map[string]struct {
		table *table
		want  []string
	}{
		"cold start": {f.speeds("ColdStart", 1000, true), []string{
			"| `byhand` | **300** (250–350) | 1.00 | 0.66 | 0.62 | **200** | **2.000** | **0** | 0.30 | 1.50 | **40.0** | 2 |",
			"| `sample-controller`, 50 Foos | 5.00 | 0.020 | 0.013 | 0.013 | – | 3.000 | 0 | 2.00 | 0.10 | 20.0 | 1 |",
			"| `controller-runtime` | 150 (100–200) | 0.54 | 0.35 | 0.50 | 100 | 2.570 | 575 (570–580) | 1.00 | **1.40** | 50.0 | 2 |",
			"| `floor` | 450 (400–500) | 1.51 | 1.00 | 1.00 | – | 2.000 | 0 | 0.00 | 0.50 | 30.0 | 2 |",
			"| `floor-watch` | 400 | 1.60 | 1.00 | 1.00 | – | 2.000 | 0 | 0.00 | 0.50 | 30.0 | 1 |"}},
		"workers": {f.crewTable(1000), []string{
			"| 8 | 100 | 0.50 | – | – | 200 | 1 |",
			"| 16 | 300 (250–350) | 0.66 | – | – | 450 (400–500) | 2 |",
			"| 32 | 400 | 0.80 | – | – | 500 | 1 |"}},
		"backlog": {f.waitsTable("Backlog/foo=new", 5000), []string{
			"| `byhand` | 6.00 s | 12.0 s | 1.00 | 1 |",
			"| `controller-runtime` | **40.0 ms** | **300 ms** | 0.007 | 1 |"}},
		"bytes": {f.bytesTable(), []string{"| `byhand` | 1,000 | 1.00 |"}},
		"failover": {f.failoverTable(), []string{
			"| `byhand` | 1.50 s | – | 1 and 0 |",
			"| `sample-controller` | not offered | not offered | – |",
			"| `sample-controller-tuned` | not offered | not offered | – |"}},
		"client": {f.goTable("Get/wire=json", "client"), []string{
			"| `byhand` | **2.00 µs** | 1.00 | 64 | 4 | 1 × |",
			"| `generated` | 3.00 µs | 1.50 | 64 | **3** | 1 × |",
			"| `bare` | 1.00 µs | 0.50 | 10 | 1 | 1 × |"}},
		"carry": {f.carryTable(), []string{"| own lines to read | 1,799 |"}},
		"summary": {f.summary(), []string{
			"| cold start of 1,000 Foos: Foos/s | 300 | 150 | `controller-runtime` | better, × 2.00 |",
			"| the same, until the last write: Foos/s | 200 | 100 | `controller-runtime` | better, × 2.00 |",
			"| the same: writes for each Foo | 2.000 | 2.570 | `controller-runtime` | better, × 1.28 |",
			"| the same: 409s | 0 | 575 | `controller-runtime` | better |",
			"| a new Foo behind a backlog of 5,000: p99 | 12.0 s | 300 ms | `controller-runtime` | **worse**, × 0.025 |",
			"| Get, json: time | 2.00 µs | 3.00 µs | `generated` | better, × 1.50 |",
			"| the same: allocations | 4 | 3 | `generated` | **worse**, × 0.75 |"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Split(strings.TrimSpace(test.table.markdown()), "\n")[2:]
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The page has a section for what was measured, and for nothing else.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, rawFile), []byte(rawText), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(dir); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	for _, want := range []string{"| cores | 2 |", `| command | ` + "`" + `go run ./harness -peers 'byhand\|floor'` + "`", "| etcd's fsync | on |", "## Cold start", "## More workers, fewer workers", "### 1,000 Foos", "(throughput.svg)", "(backlog.svg)", "## Failover", "### Get, json", "## What a reader carries", "## Method", "## What the numbers do not say"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, unwanted := range []string{"## Idle", "## DeepCopy", "## Every Foo changed", "NaN", "%!"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
	for _, file := range []string{"throughput.svg", "backlog.svg"} {
		picture, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		// Readable on any page: white behind everything.
		if text := string(picture); !strings.Contains(text, "fill:#FFFFFF") || !strings.Contains(text, ">byhand") || strings.Contains(text, "NaN") {
			t.Errorf("%s:\n%s", file, text)
		}
	}
}

// A wait that cannot have been measured is named, not drawn.
func TestImpossibleWait(t *testing.T) {
	for _, wait := range []string{"0", "-0.001"} {
		f := read(t, "BenchmarkBacklog/foo=new/foos=5000/peer=byhand 100 1 sec/op "+wait+" p50-sec 12 p99-sec\n")
		if _, err := f.pictures(); err == nil || !strings.Contains(err.Error(), "byhand has waited from "+wait+" to 12 seconds") {
			t.Errorf("%s s: %v", wait, err)
		}
	}
}

// The page in the repository is made of the numbers beside it, by this code.
func TestResultsAreUpToDate(t *testing.T) {
	const results = "../results"
	numbers, err := os.ReadFile(filepath.Join(results, rawFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, rawFile), numbers, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(dir); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range made {
		want, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(results, file.Name()))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what raw.txt says (%v): go run ./harness -report", file.Name(), err)
		}
	}
}
