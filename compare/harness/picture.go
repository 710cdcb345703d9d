package main

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// picture draws how many Foos per second each entry of a group makes, of the base, as bars with
// their intervals: SVG. Nothing, if no group has such ratios.
func picture(groups []group) string {
	unit := ratio(perSecond)
	for _, g := range groups {
		g.entries = slices.DeleteFunc(g.entries, func(e entry) bool { return len(e.values[unit]) == 0 })
		if len(g.entries) == 0 {
			continue
		}
		// 1 is the base: 300 pixels.
		const left, scale = 190, 300
		var bars strings.Builder
		for i, e := range g.entries {
			s, y := benchmath.AssumeNothing.Summary(sampleOf(e.values[unit]), confidence), 44+24*i
			end := left + scale*s.Center
			fmt.Fprintf(&bars, "<text x=\"8\" y=\"%d\">%s</text><rect x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"16\" fill=\"#4a90c4\"/>", y+13, e.who, left, y, end-left)
			if len(e.values[unit]) >= fewest {
				fmt.Fprintf(&bars, "<path d=\"M%.0f %dH%.0f\" stroke=\"#1c3d5a\" stroke-width=\"3\"/>", left+scale*s.Lo, y+8, left+scale*s.Hi)
				end = max(end, left+scale*s.Hi)
			}
			fmt.Fprintf(&bars, "<text x=\"%.0f\" y=\"%d\">%.2f</text>\n", end+6, y+13, s.Center)
		}
		height := 52 + 24*len(g.entries)
		// White behind everything: readable on any page.
		return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n"+
			"<rect width=\"720\" height=\"%d\" fill=\"#ffffff\"/>\n<text x=\"8\" y=\"24\" font-size=\"15\">Cold start of %s Foos: Foos per second, of the loop that is no controller</text>\n%s</svg>\n",
			height, height, strings.Join(g.what, ", "), bars.String())
	}
	return ""
}
