package main

import (
	"fmt"
	"slices"

	"example.com/byhand/compare/peers"
)

// A picture is a file of the page, drawn on white so that it can be read on a page
// of any colour.
type picture struct {
	file, title string
	svg         []byte
}

// pictures draws what there are measurements of.
func (f *figures) pictures() ([]picture, error) {
	var all []picture
	for _, draw := range []func() (picture, error){f.throughput, f.backlogs, f.memory} {
		p, err := draw()
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", p.file, err)
		}
		if p.svg != nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// throughput shows the cold starts.
func (f *figures) throughput() (picture, error) {
	p := picture{file: "throughput.svg", title: "Cold start: Foos per second (the line: smallest to largest round)"}
	sizes := f.mainSizes("ColdStart")
	sizes = sizes[:min(len(sizes), len(colours))]
	var bars []bar
	var series []string
	for i, n := range sizes {
		series = append(series, thousands(float64(n))+" Foos")
		for _, e := range f.entries("ColdStart", n) {
			if rates := f.values(e.name, perSecond); key(e.name, "foos") == fmt.Sprint(n) {
				bars = append(bars, bar{row: e.peer.Name, series: i, value: median(rates), lo: slices.Min(rates), hi: slices.Max(rates), text: number(median(rates))})
			}
		}
	}
	var err error
	p.svg, err = drawBars(p.title, series, bars)
	return p, err
}

// memory shows what the caches take.
func (f *figures) memory() (picture, error) {
	p := picture{file: "memory.svg", title: "Cache: bytes of live heap for each Foo"}
	var bars []bar
	for _, peer := range peers.All() {
		if each := f.bytesEach(peer.Name); each > 0 {
			bars = append(bars, bar{row: peer.Name, series: 0, value: each, lo: each, hi: each, text: whole(each)})
		}
	}
	var err error
	p.svg, err = drawBars(p.title, []string{""}, bars)
	return p, err
}

// backlogs shows how long new and changed Foos wait behind a backlog: from p50 to
// p99, on a logarithmic scale.
func (f *figures) backlogs() (picture, error) {
	p := picture{file: "backlog.svg", title: "Behind a backlog: from p50 to p99, in seconds"}
	var bars []bar
	series := []string{"new Foo", "changed Foo"}
	for i, kind := range []string{"new", "changed"} {
		for _, n := range f.mainSizes("Backlog/foo=" + kind) {
			for _, e := range f.entries("Backlog/foo="+kind, n) {
				lo, hi := median(f.values(e.name, p50)), median(f.values(e.name, p99))
				bars = append(bars, bar{row: e.peer.Name, series: i, lo: lo, hi: hi, text: seconds(lo) + " to " + seconds(hi)})
			}
		}
	}
	var err error
	p.svg, err = drawRanges(p.title, series, bars)
	return p, err
}
