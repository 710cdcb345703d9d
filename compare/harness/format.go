package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A table of the page. Who is best in a column is set in bold type.
type table struct {
	columns []column
	rows    []row
}

type column struct {
	head   string
	better int // more or less; 0: it is not a contest
}

const (
	more = +1
	less = -1
	text = 2 // not a contest, and no figures either
)

// row is one program's. Who does not compete is never bold: a floor is no controller.
type row struct {
	cells    []cell
	competes bool
}

// cell is a figure as it is shown, what is added to it in brackets, and its value. No
// figure is shown as a dash.
type cell struct {
	figure, addition string
	value            float64
}

func words(text string) cell { return cell{figure: text, value: math.NaN()} }

var missing = words("–")

// markdown writes the table. Figures that are shown alike are equally good.
func (t *table) markdown() string {
	var out strings.Builder
	heads, rules := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i], rules[i] = c.head, "---:"
		if c.better == text {
			rules[i] = "---"
		}
	}
	fmt.Fprintf(&out, "| %s |\n| %s |\n", strings.Join(heads, " | "), strings.Join(rules, " | "))
	for _, r := range t.rows {
		shown := make([]string, len(r.cells))
		for i, c := range r.cells {
			shown[i] = c.figure
			if r.competes && c.figure == t.best(i) {
				shown[i] = "**" + c.figure + "**"
			}
			if c.addition != "" {
				shown[i] += " (" + c.addition + ")"
			}
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(shown, " | "))
	}
	return out.String()
}

// best returns the best figure of a column as it is shown, "" if it is no contest or
// if all are equally good.
func (t *table) best(i int) string {
	better := t.columns[i].better
	if better != more && better != less {
		return ""
	}
	figure, value, differ := "", math.NaN(), false
	for _, r := range t.rows {
		c := r.cells[i]
		if !r.competes || math.IsNaN(c.value) {
			continue
		}
		differ = differ || figure != "" && c.figure != figure
		if math.IsNaN(value) || (c.value-value)*float64(better) > 0 {
			figure, value = c.figure, c.value
		}
	}
	if !differ {
		return ""
	}
	return figure
}

// A format shows a value: three digits where they matter.
type format func(v float64) string

func number(v float64) string {
	switch {
	case v >= 1000:
		return thousands(v)
	case v >= 100 || v == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

func thousands(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	var groups []string
	for len(digits) > 3 {
		groups = append(groups, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	groups = append(groups, digits)
	slices.Reverse(groups)
	return strings.Join(groups, ",")
}

// exact shows counts for each Foo: whether a write is too many must be seen.
func exact(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

func ratio(v float64) string {
	if v > 0 && v < 0.1 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func whole(v float64) string { return thousands(v) }

func mebibytes(v float64) string { return number(v / (1 << 20)) }

// seconds shows a time in the unit that suits it.
func seconds(v float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if v >= unit.size {
			return number(v/unit.size) + " " + unit.name
		}
	}
	if v < 1e-10 {
		return number(v) + " s"
	}
	return number(v*1e9) + " ns"
}

// middle shows the median of some measurements.
func middle(values []float64, show format) cell {
	if len(values) == 0 {
		return missing
	}
	return cell{figure: show(median(values)), value: median(values)}
}

// spread shows the median and, if they differ, the smallest and the largest.
func spread(values []float64, show format) cell {
	c := middle(values, show)
	if len(values) == 0 {
		return c
	}
	if least, most := show(slices.Min(values)), show(slices.Max(values)); least != most {
		c.addition = least + "–" + most
	}
	return c
}
