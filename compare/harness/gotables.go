package main

import (
	"slices"
	"strings"
)

// ours is how each Go benchmark calls what is written by hand.
const ours = "byhand"

// reference is a client that only moves bytes: what the server of the benchmark
// costs. It does not compete.
const reference = "bare"

// contenders are what the Go benchmarks compare, in the order of the tables. (They run
// in a random one.)
var contenders = []string{ours, "generated", "dynamic", "controller-runtime", reference}

// title says in words what the names of a Go benchmark begin with.
func title(prefix string) string {
	return strings.NewReplacer("/wire=", ", ", "/kind=", " of ").Replace(prefix)
}

// goTable is the table of one Go benchmark, whose names begin with prefix and end with
// a value of lastKey.
func (f *figures) goTable(prefix, lastKey string) *table {
	t := &table{columns: []column{{"", text}, {"time", less}, {"× byhand", 0}, {"B", less}, {"allocations", less}, {"measured", 0}}}
	for _, who := range contenders {
		times := f.values(prefix+"/"+lastKey+"="+who, "sec/op")
		if len(times) == 0 {
			continue
		}
		name := prefix + "/" + lastKey + "=" + who
		t.rows = append(t.rows, row{[]cell{words("`" + who + "`"), spread(times, seconds),
			middle(ratios(times, f.values(prefix+"/"+lastKey+"="+ours, "sec/op")), ratio),
			middle(f.values(name, "B/op"), whole), middle(f.values(name, "allocs/op"), whole), words(whole(float64(len(times))) + " ×")}, who != reference})
	}
	return t
}

// prefixes returns what precedes the last key of the names of Go benchmarks with
// such a key, in order of appearance.
func (f *figures) prefixes(lastKey string) []string {
	var found []string
	for _, name := range f.names {
		prefix, _, ok := strings.Cut(name, "/"+lastKey+"=")
		if ok && !slices.Contains(found, prefix) {
			found = append(found, prefix)
		}
	}
	return found
}

// carryTable is the table of what a reader carries: a line for each sort of burden.
func (f *figures) carryTable() *table {
	if !f.has("Carry") {
		return &table{}
	}
	t := &table{columns: []column{{"", text}}}
	var names []string
	for _, name := range f.names {
		if strings.HasPrefix(name, "Carry/") {
			names = append(names, name)
			t.columns = append(t.columns, column{"`" + key(name, "peer") + "`", 0})
		}
	}
	for _, unit := range f.units {
		cells := []cell{words(f.meaning[unit])}
		for _, name := range names {
			show := whole
			switch {
			case strings.HasSuffix(unit, "-B"):
				show = func(v float64) string { return mebibytes(v) + " MiB" }
			case strings.HasSuffix(unit, "-sec"):
				show = seconds
			}
			cells = append(cells, middle(f.values(name, unit), show))
		}
		t.rows = append(t.rows, row{cells, false})
	}
	return t
}
