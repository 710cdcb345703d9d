package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.com/byhand/compare/peers"
)

// key returns the value of /key=value in a name, "" if it has none.
func key(name, key string) string {
	for part := range strings.SplitSeq(name, "/") {
		if value, ok := strings.CutPrefix(part, key+"="); ok {
			return value
		}
	}
	return ""
}

// sizes returns the numbers of Foos for which something was measured, the smallest
// first.
func (f *figures) sizes(what string) []int {
	found := map[int]bool{}
	for _, name := range f.names {
		if n, err := strconv.Atoi(key(name, "foos")); err == nil && strings.HasPrefix(name, what+"/") {
			found[n] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// entry is what was measured of one peer.
type entry struct {
	peer  peers.Peer
	label string
	name  string
}

// entries returns who took part in something with n Foos. Who is slow did the same
// with fewer; it is shown with the smallest number, and the label says so.
func (f *figures) entries(what string, n int) []entry {
	var found []entry
	for _, peer := range peers.All() {
		label := "`" + peer.Name + "`"
		if name := measured(what, n, peer.Name); len(f.lines[name]) > 0 {
			found = append(found, entry{peer, label, name})
			continue
		}
		if !slow(peer) || n != f.mainSizes(what)[0] {
			continue
		}
		for _, fewer := range f.sizes(what) {
			if name := measured(what, fewer, peer.Name); fewer < n && len(f.lines[name]) > 0 {
				found = append(found, entry{peer, fmt.Sprintf("%s, %d Foos", label, fewer), name})
			}
		}
	}
	return found
}

// measured is the name of what was measured.
func measured(what string, n int, peer string) string {
	return fmt.Sprintf("%s/foos=%d/peer=%s", what, n, peer)
}

// mainSizes returns the numbers of Foos that the fast peers were measured with.
func (f *figures) mainSizes(what string) []int {
	return slices.DeleteFunc(f.sizes(what), func(n int) bool {
		return !slices.ContainsFunc(peers.All(), func(p peers.Peer) bool { return !slow(p) && len(f.lines[measured(what, n, p.Name)]) > 0 })
	})
}

// speeds is the table of what is done in so many Foos per second.
func (f *figures) speeds(what string, n int, floor bool) *table {
	t := &table{columns: []column{{"", text}, {"Foos/s", more}, {"× byhand", 0}}}
	if floor {
		t.columns = append(t.columns, column{"× floor", 0}, column{"× floor-watch", 0}, column{"Foos/s until its last write", more})
	}
	t.columns = append(t.columns, column{"writes/Foo", less}, column{"409s", less}, column{"Events/Foo", 0})
	if floor {
		t.columns = append(t.columns, column{"CPU s", less}, column{"peak MiB", less})
	}
	t.columns = append(t.columns, column{"rounds", 0})
	for _, e := range f.entries(what, n) {
		rates := f.values(e.name, perSecond)
		times := func(other string) cell {
			return middle(ratios(rates, f.values(measured(what, n, other), perSecond)), ratio)
		}
		cells := []cell{words(e.label), spread(rates, number), times("byhand")}
		if floor {
			cells = append(cells, times("floor"), times("floor-watch"), middle(f.values(e.name, restPerSecond), number))
		}
		cells = append(cells, middle(f.values(e.name, writesEach), exact), spread(f.values(e.name, conflicts), whole), middle(f.values(e.name, eventsEach), ratio))
		if floor {
			cells = append(cells, middle(f.values(e.name, cpuSeconds), number), middle(f.values(e.name, peakMemory), mebibytes))
		}
		cells = append(cells, words(strconv.Itoa(len(rates))))
		// With other numbers of Foos there is no contest.
		t.rows = append(t.rows, row{cells, !e.peer.Loop && key(e.name, "foos") == strconv.Itoa(n)})
	}
	return t
}

// crewTable is the table of the cold starts of n Foos with different numbers of
// workers.
func (f *figures) crewTable(n int) *table {
	t := &table{columns: []column{{"workers", text}}}
	for _, peer := range crewPeers {
		t.columns = append(t.columns, column{"`" + peer + "`: Foos/s", 0})
		if peer != "floor" {
			t.columns = append(t.columns, column{"× floor", 0})
		}
	}
	t.columns = append(t.columns, column{"rounds", 0})
	crews := map[int]string{}
	for _, name := range f.names {
		if workers, err := strconv.Atoi(key(name, "workers")); err == nil && key(name, "foos") == strconv.Itoa(n) {
			crews[workers] = crewOf(workers)
		}
	}
	if len(crews) > 0 {
		crews[peers.Workers] = "ColdStart"
	}
	for _, workers := range slices.Sorted(maps.Keys(crews)) {
		rates := func(peer string) []float64 { return f.values(measured(crews[workers], n, peer), perSecond) }
		cells := []cell{words(strconv.Itoa(workers))}
		for _, peer := range crewPeers {
			cells = append(cells, spread(rates(peer), number))
			if peer != "floor" {
				cells = append(cells, middle(ratios(rates(peer), rates("floor")), ratio))
			}
		}
		t.rows = append(t.rows, row{append(cells, words(strconv.Itoa(len(rates(ours))))), false})
	}
	return t
}

// waitsTable is the table of how long single Foos wait.
func (f *figures) waitsTable(what string, n int) *table {
	t := &table{columns: []column{{"", text}, {"p50", less}, {"p99", less}, {"× byhand (p50)", 0}, {"rounds", 0}}}
	for _, e := range f.entries(what, n) {
		half := f.values(e.name, p50)
		t.rows = append(t.rows, row{[]cell{words(e.label), spread(half, seconds), spread(f.values(e.name, p99), seconds),
			middle(ratios(half, f.values(measured(what, n, "byhand"), p50)), ratio), words(strconv.Itoa(len(half)))}, true})
	}
	return t
}

// idleTable is the table of the requests of who has nothing to do.
func (f *figures) idleTable(n int) *table {
	t := &table{columns: []column{{"", text}, {"writes", less}, {"409s", less}, {"reads", less}, {"Events", less}, {"CPU s", less}}}
	for _, e := range f.entries("Idle", n) {
		cells := []cell{words(e.label)}
		for _, unit := range []string{writes, conflicts, reads, events} {
			cells = append(cells, middle(f.values(e.name, unit), whole))
		}
		cells = append(cells, middle(f.values(e.name, cpuSeconds), ratio))
		t.rows = append(t.rows, row{cells, key(e.name, "foos") == strconv.Itoa(n)})
	}
	return t
}

// cacheTable is the table of how n Foos get into memory, and what they take there.
func (f *figures) cacheTable(n int) *table {
	t := &table{columns: []column{{"", text}, {"until in memory", less}, {"× byhand", 0}, {"CPU s", less}, {"peak MiB", less}, {"then MiB", less}, {"live heap MiB", less}, {"rounds", 0}}}
	for _, e := range f.entries("CacheSync", n) {
		times := f.values(e.name, "sec/op")
		t.rows = append(t.rows, row{[]cell{words(e.label), spread(times, seconds),
			middle(ratios(times, f.values(measured("CacheSync", n, "byhand"), "sec/op")), ratio),
			middle(f.values(e.name, cpuSeconds), number), middle(f.values(e.name, peakMemory), mebibytes), middle(f.values(e.name, memory), mebibytes),
			middle(f.values(e.name, liveMemory), mebibytes), words(strconv.Itoa(len(times)))}, true})
	}
	return t
}

// bytesEach returns how many bytes of a peer's live heap one more Foo takes: the
// difference between the largest and the smallest number of Foos. 0: not measured.
func (f *figures) bytesEach(peer string) float64 {
	sizes := f.sizes("CacheSync")
	if len(sizes) < 2 {
		return 0
	}
	few, many := sizes[0], sizes[len(sizes)-1]
	a, b := f.values(measured("CacheSync", few, peer), liveMemory), f.values(measured("CacheSync", many, peer), liveMemory)
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return (median(b) - median(a)) / float64(many-few)
}

// bytesTable is the table of the memory for each Foo.
func (f *figures) bytesTable() *table {
	t := &table{columns: []column{{"", text}, {"live bytes for each Foo", less}, {"× byhand", 0}}}
	for _, peer := range peers.All() {
		if each := f.bytesEach(peer.Name); each > 0 {
			t.rows = append(t.rows, row{[]cell{words("`" + peer.Name + "`"), {figure: whole(each), value: each},
				middle(ratios([]float64{each}, []float64{f.bytesEach("byhand")}), ratio)}, true})
		}
	}
	return t
}

// failoverTable is the table of how long nobody works after a leader has ended.
func (f *figures) failoverTable() *table {
	if !f.has("Failover") {
		return &table{}
	}
	t := &table{columns: []column{{"", text}, {"ended by SIGTERM", less}, {"killed", less}, {"times", 0}}}
	for _, peer := range peers.All() {
		if peer.Loop {
			continue
		}
		clean, killed := f.values(measured("Failover/end=clean", 1, peer.Name), "sec/op"), f.values(measured("Failover/end=killed", 1, peer.Name), "sec/op")
		cells := []cell{words("`" + peer.Name + "`"), spread(clean, seconds), spread(killed, seconds), words(fmt.Sprintf("%d and %d", len(clean), len(killed)))}
		if len(clean)+len(killed) == 0 {
			if peer.Elects {
				continue
			}
			cells = []cell{cells[0], words("not offered"), words("not offered"), missing}
		}
		t.rows = append(t.rows, row{cells, true})
	}
	return t
}
