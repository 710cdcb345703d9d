package main

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"

	"example.com/byhand/compare/peers"
)

// contest is a line of the summary: byhand and the best of the others in one figure.
type contest struct {
	what string
	// name of the measurement of a peer, and its unit.
	name   func(peer string) string
	unit   string
	better int
	show   format
}

// contests lists what is in the summary.
func (f *figures) contests() []contest {
	var all []contest
	add := func(what, scenario string, n int, unit string, better int, show format) {
		all = append(all, contest{what, func(peer string) string { return measured(scenario, n, peer) }, unit, better, show})
	}
	for _, n := range f.mainSizes("ColdStart") {
		add("cold start of "+whole(float64(n))+" Foos: Foos/s", "ColdStart", n, perSecond, more, number)
		add("the same, until the last write: Foos/s", "ColdStart", n, restPerSecond, more, number)
		add("the same: writes for each Foo", "ColdStart", n, writesEach, less, exact)
		add("the same: 409s", "ColdStart", n, conflicts, less, whole)
	}
	for _, scenario := range [][2]string{{"Change", "every Foo changed"}, {"Delete", "every Deployment deleted"}} {
		for _, n := range f.mainSizes(scenario[0]) {
			add(scenario[1]+": Foos/s", scenario[0], n, perSecond, more, number)
		}
	}
	for _, n := range f.mainSizes("Latency") {
		add("a new Foo when idle: p50", "Latency", n, p50, less, seconds)
	}
	for _, kind := range []string{"new", "changed"} {
		for _, n := range f.mainSizes("Backlog/foo=" + kind) {
			add(fmt.Sprintf("a %s Foo behind a backlog of %s: p99", kind, whole(float64(n))), "Backlog/foo="+kind, n, p99, less, seconds)
		}
	}
	for _, n := range f.mainSizes("Idle") {
		add("two resyncs: writes", "Idle", n, writes, less, whole)
	}
	for _, n := range f.mainSizes("CacheSync") {
		add("cache of "+whole(float64(n))+" Foos: time", "CacheSync", n, "sec/op", less, seconds)
		add("the same: peak MiB", "CacheSync", n, peakMemory, less, mebibytes)
	}
	for _, end := range [][2]string{{"clean", "leader ended"}, {"killed", "leader killed"}} {
		for _, n := range f.sizes("Failover/end=" + end[0]) {
			add(end[1]+": a new Foo waits", "Failover/end="+end[0], n, "sec/op", less, seconds)
		}
	}
	return append(all, f.goContests()...)
}

// goContests are those of the Go benchmarks. CBOR, which is off unless two feature
// gates are on, is in the tables only.
func (f *figures) goContests() []contest {
	var all []contest
	for _, lastKey := range []string{"client", "copy"} {
		for _, prefix := range f.prefixes(lastKey) {
			if key(prefix, "wire") == "cbor" {
				continue
			}
			name := func(who string) string { return prefix + "/" + lastKey + "=" + who }
			all = append(all, contest{title(prefix) + ": time", name, "sec/op", less, seconds}, contest{"the same: allocations", name, "allocs/op", less, whole})
		}
	}
	return all
}

// rivals are all that may be better than byhand: peers as the tables call them, and
// what the Go benchmarks compare.
func rivals() []string {
	var names []string
	for _, peer := range peers.All() {
		if !peer.Loop && peer.Name != ours {
			names = append(names, peer.Name)
		}
	}
	return append(names, "generated", "dynamic")
}

// summary is the table of who is best in what.
func (f *figures) summary() *table {
	t := &table{columns: []column{{"", text}, {"`byhand`", 0}, {"best of the others", 0}, {"which", text}, {"`byhand` is", text}}}
	for _, c := range f.contests() {
		own := f.values(c.name(ours), c.unit)
		best, who := f.bestOf(c)
		if len(own) == 0 || who == "" {
			continue
		}
		t.rows = append(t.rows, row{[]cell{words(c.what), middle(own, c.show), middle(best, c.show), words("`" + who + "`"), words(c.verdict(own, best))}, false})
	}
	return t
}

// bestOf returns the measurements of the best rival, and who that is.
func (f *figures) bestOf(c contest) (best []float64, who string) {
	for _, name := range rivals() {
		values := f.values(c.name(name), c.unit)
		if len(values) > 0 && (who == "" || (median(values)-median(best))*float64(c.better) > 0) {
			best, who = values, name
		}
	}
	return best, who
}

// verdict says in words how byhand compares with the best of the others. What is shown
// alike is equal, and so is what rounds enough cannot tell apart.
func (c contest) verdict(own, others []float64) string {
	mine, best := median(own), median(others)
	times := mine / best
	if c.better == less {
		times = best / mine
	}
	switch {
	case c.show(mine) == c.show(best) || ratio(times) == "1.00":
		return "equal"
	case mine == 0 || best == 0:
		if (mine-best)*float64(c.better) > 0 {
			return "better"
		}
		return "**worse**"
	case alike(own, others):
		return "not to be told apart, × " + ratio(times)
	case times >= 1:
		return "better, × " + ratio(times)
	default:
		return "**worse**, × " + ratio(times)
	}
}

// alike reports whether two sets of measurements may well be of the same thing, as
// benchstat judges. With less than four of each nobody can tell, and it is false.
func alike(a, b []float64) bool {
	if min(len(a), len(b)) < 4 {
		return false
	}
	sample := func(values []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	}
	comparison := benchmath.AssumeNothing.Compare(sample(a), sample(b))
	return comparison.P > comparison.Alpha
}
