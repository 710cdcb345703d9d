package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// The files of a folder of results: the measurements, and what is made of them.
const rawFile, pageFile, pictureFile = "raw.txt", "README.md", "throughput.svg"

// writePage makes the page and its picture of the measurements in a folder.
func writePage(dir string) error {
	in, err := os.Open(filepath.Join(dir, rawFile))
	if err != nil {
		return err
	}
	f, err := readRaw(in, rawFile)
	if err := errors.Join(err, in.Close()); err != nil {
		return err
	}
	page, err := f.page()
	if err != nil {
		return err
	}
	coldStarts, err := f.groups(coldStart)
	if err != nil {
		return err
	}
	if svg := picture(coldStarts); svg != "" {
		if err := os.WriteFile(filepath.Join(dir, pictureFile), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, pageFile), []byte(page), 0o644)
}

// figures are the measurements of a file.
type figures struct {
	all   []*benchfmt.Result
	units benchfmt.UnitMetadataMap
}

// readRaw reads a file in the Go benchmark format.
func readRaw(in io.Reader, name string) (*figures, error) {
	f := &figures{}
	reader := benchfmt.NewReader(in, name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			f.all = append(f.all, record.Clone())
		}
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	if len(f.all) == 0 {
		return nil, errors.New(name + " holds no measurements")
	}
	f.units = reader.Units()
	return f, nil
}

// group is what is compared: entries that differ in nothing but who was measured. The
// first one is the base.
type group struct {
	what    []string
	entries []entry
}

// entry is what was measured of one peer: for each unit a value a round.
type entry struct {
	who    string
	values map[string][]float64
}

// groups returns what the section is about.
func (f *figures) groups(s section) ([]group, error) {
	filter, err := benchproc.NewFilter(s.filter)
	if err != nil {
		return nil, err
	}
	projection, err := new(benchproc.ProjectionParser).Parse(strings.Join(s.rows, " "), filter)
	if err != nil {
		return nil, err
	}
	measured := map[benchproc.Key]map[string][]float64{}
	var keys []benchproc.Key
	for _, result := range f.all {
		if match, _ := filter.Match(result); !match.All() {
			continue
		}
		key := projection.Project(result)
		if measured[key] == nil {
			measured[key], keys = map[string][]float64{}, append(keys, key)
		}
		for _, v := range result.Values {
			measured[key][v.Unit] = append(measured[key][v.Unit], v.Value)
		}
	}
	benchproc.SortKeys(keys)
	var all []group
	for _, key := range keys {
		var what []string
		for _, field := range projection.Fields() {
			what = append(what, key.Get(field))
		}
		last := len(what) - 1
		if len(all) == 0 || !slices.Equal(all[len(all)-1].what, what[:last]) {
			all = append(all, group{what: what[:last]})
		}
		g := &all[len(all)-1]
		g.entries = append(g.entries, entry{what[last], measured[key]})
	}
	return all, nil
}

// page is the text of the page. It says only what was measured.
func (f *figures) page() (string, error) {
	text := "# Side by side: the numbers\n\n" + introduction + "\n" + f.machine()
	for _, s := range sections {
		table, err := f.table(s)
		if err != nil {
			return "", err
		}
		if len(table) > 1 {
			text += fmt.Sprintf("\n## %s\n\n%s\n\n", s.title, s.text) + markdown(table) + f.precision(s)
		}
	}
	return text + method, nil
}

// table shows a line for each peer in each group. Nothing but a head: nothing was
// measured.
func (f *figures) table(s section) ([][]string, error) {
	groups, err := f.groups(s)
	if err != nil {
		return nil, err
	}
	var head []string
	for _, field := range s.rows {
		head = append(head, heading(strings.TrimLeft(strings.Split(field, "@")[0], "/.")))
	}
	for _, unit := range s.units {
		if head = append(head, heading(unit)); slices.Contains(s.compared, unit) {
			head = append(head, "difference")
		}
	}
	table := [][]string{append(head, "rounds")}
	for _, g := range groups {
		for i, e := range g.entries {
			line := append(slices.Clone(g.what), "`"+e.who+"`")
			rounds := 0
			for _, unit := range s.units {
				rounds = max(rounds, len(e.values[unit]))
			}
			if rounds == 0 {
				continue
			}
			for _, unit := range s.units {
				if line = append(line, median(e.values[unit], unit)); slices.Contains(s.compared, unit) {
					line = append(line, f.difference(g, i, unit))
				}
			}
			table = append(table, append(line, fmt.Sprint(rounds)))
		}
	}
	return table, nil
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
func (f *figures) machine() string {
	table := [][]string{{"", ""}}
	for _, key := range []string{"cpu", "cores", "memory", "go", "control-plane", "method", "command"} {
		// A bar ends a cell, even in code.
		value := strings.ReplaceAll(f.all[0].GetConfig(key), "|", `\|`)
		if key == "command" {
			value = "`" + value + "`"
		}
		table = append(table, []string{key, value})
	}
	return markdown(table)
}
