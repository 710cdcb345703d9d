package main

import (
	"fmt"
	"slices"
	"strings"
)

// picture draws what the largest of some groups says of Foos per second, of the base: for each
// program a bar to the last status and one to the last write, with their intervals: SVG.
// Nothing, if no group has such ratios.
func picture(groups []group) string {
	bars := []struct{ unit, color string }{{ratio(perSecond), "#4a90c4"}, {ratio(restPerSecond), "#c4774a"}}
	for _, g := range slices.Backward(groups) {
		g.entries = slices.DeleteFunc(slices.Clone(g.entries), func(e entry) bool { return len(e.values[ratio(perSecond)]) == 0 })
		if len(g.entries) == 0 {
			continue
		}
		// 1 is the base: 300 pixels.
		const left, scale, top, row = 190, 300, 60, 40
		height := top + row*len(g.entries)
		var out strings.Builder
		for i, e := range g.entries {
			fmt.Fprintf(&out, "<text x=\"8\" y=\"%d\">%s</text>\n", top+row*i+20, e.who)
			for j, bar := range bars {
				s, y := summarize(e.values[bar.unit]), top+row*i+16*j
				end := left + scale*s.Center
				fmt.Fprintf(&out, "<rect x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"14\" fill=\"%s\"/>", left, y, end-left, bar.color)
				if finite(s) {
					fmt.Fprintf(&out, "<path d=\"M%.0f %dH%.0f\" stroke=\"#000000\" stroke-width=\"2\"/>", left+scale*s.Lo, y+7, left+scale*s.Hi)
					end = max(end, left+scale*s.Hi)
				}
				fmt.Fprintf(&out, "<text x=\"%.0f\" y=\"%d\">%.2f</text>\n", end+6, y+12, s.Center)
			}
		}
		// White behind everything: readable on any page. The line is the base.
		return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"%[1]d\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"720\" height=\"%[1]d\" fill=\"#ffffff\"/>\n"+
			"<text x=\"8\" y=\"24\" font-size=\"15\">Cold start of %[2]s Foos: Foos per second ÷ those of the loop that is no controller</text>\n"+
			"<text x=\"190\" y=\"46\" fill=\"%[3]s\">to the first status of every Foo</text><text x=\"400\" y=\"46\" fill=\"%[4]s\">to the last write</text>\n"+
			"<path d=\"M%[5]d 52V%[1]d\" stroke=\"#888888\"/>\n%[6]s</svg>\n",
			height, g.what, bars[0].color, bars[1].color, left+scale, out.String())
	}
	return ""
}
