package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// The files of a folder of results: the measurements, and what is made of them.
const rawFile, pageFile, pictureFile = "raw.txt", "README.md", "throughput.svg"

// writePage makes the page and its picture of the measurements in a folder.
func writePage(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, rawFile))
	if err != nil {
		return err
	}
	f, err := readRaw(text)
	if err != nil {
		return err
	}
	if svg := picture(f.groups("ColdStart")); svg != "" {
		if err := os.WriteFile(filepath.Join(dir, pictureFile), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, pageFile), []byte(f.page()), 0o644)
}

// figures are measurements.
type figures []*benchfmt.Result

// readRaw reads the Go benchmark format.
func readRaw(text []byte) (f figures, err error) {
	reader := benchfmt.NewReader(bytes.NewReader(text), rawFile)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			f = append(f, record.Clone())
		}
	}
	if len(f) == 0 {
		return nil, errors.New("no measurements")
	}
	return f, reader.Err()
}

// sessions returns the figures of each session, in order: what one call of the command measured.
func (f figures) sessions() (all []figures) {
	for i, result := range f {
		if i == 0 || result.GetConfig("date") != f[i-1].GetConfig("date") {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], result)
	}
	return all
}

// group is what is compared: entries that differ in nothing but who was measured.
type group struct {
	what    string // the number of Foos, or the request
	entries []entry
}

// entry is what was measured of one peer: for each unit a value a round.
type entry struct {
	who    string
	values map[string][]float64
}

// groups returns what was measured in a scenario, from the fewest Foos to the most, and the peers
// in their order. Names are scenario/what=…/who=….
func (f figures) groups(scenario string) (all []group) {
	for _, result := range f {
		name, parts := result.Name.Parts()
		if string(name) != scenario || len(parts) != 2 {
			continue
		}
		_, what, _ := strings.Cut(string(parts[0]), "=")
		_, who, _ := strings.Cut(string(parts[1]), "=")
		i := slices.IndexFunc(all, func(g group) bool { return g.what == what })
		if i < 0 {
			i, all = len(all), append(all, group{what: what})
		}
		g := &all[i]
		j := slices.IndexFunc(g.entries, func(e entry) bool { return e.who == who })
		if j < 0 {
			j, g.entries = len(g.entries), append(g.entries, entry{who, map[string][]float64{}})
		}
		for _, v := range result.Values {
			g.entries[j].values[v.Unit] = append(g.entries[j].values[v.Unit], v.Value)
		}
	}
	number := func(g group) int { n, _ := strconv.Atoi(g.what); return n }
	slices.SortStableFunc(all, func(a, b group) int { return number(a) - number(b) })
	order := func(e entry) int {
		return slices.IndexFunc(peers.All(), func(p peers.Peer) bool { return p.Name == e.who })
	}
	for _, g := range all {
		slices.SortStableFunc(g.entries, func(a, b entry) int { return order(a) - order(b) })
	}
	return all
}

// page is the text of the page. It says only what was measured.
func (f figures) page() string {
	text := "# Side by side: the numbers\n\n" + introduction + "\n" + f.machine() + f.goalTable()
	for _, s := range sections {
		if groups := f.groups(s.scenario); len(groups) > 0 {
			var ratios []string
			for _, unit := range s.ratios {
				ratios = append(ratios, ratio(unit))
			}
			text += fmt.Sprintf("\n## %s\n\n%s\n\n%s\n<details><summary>In figures</summary>\n\n%s\n</details>\n",
				s.title, s.text, s.table(groups, ratios), s.table(groups, append(s.ratios, s.counts...)))
		}
	}
	return text + failover + method + f.precision() + limits
}

// table shows a line for each entry of each group that has one of these units.
func (s section) table(groups []group, units []string) string {
	table := [][]string{{s.what, s.who}}
	for _, unit := range units {
		table[0] = append(table[0], heading(unit))
	}
	table[0] = append(table[0], "rounds")
	for _, g := range groups {
		for _, e := range g.entries {
			line, rounds := []string{g.what, "`" + e.who + "`"}, 0
			for _, unit := range units {
				line, rounds = append(line, median(e.values[unit], unit)), max(rounds, len(e.values[unit]))
			}
			if rounds > 0 {
				table = append(table, append(line, fmt.Sprint(rounds)))
			}
		}
	}
	return markdown(table)
}

// markdown writes a table whose first line is its head.
func markdown(table [][]string) string {
	table = slices.Insert(table, 1, slices.Repeat([]string{"---"}, len(table[0])))
	var out strings.Builder
	for _, line := range table {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(line, " | "))
	}
	return out.String()
}

// machine is where and how the measurements were made.
func (f figures) machine() (lines string) {
	for _, key := range []string{"cpu", "cores", "memory", "go", "control-plane"} {
		lines += fmt.Sprintf("- %s: `%s`\n", key, f[0].GetConfig(key))
	}
	for i, session := range f.sessions() {
		lines += fmt.Sprintf("- session %d: %s, commit `%s`, `%s`\n", i+1, session[0].GetConfig("date"), session[0].GetConfig("commit"), session[0].GetConfig("command"))
	}
	return lines
}
