package main

import (
	"fmt"
	"slices"
	"strings"
)

// picture draws the Foos per second of the largest group as bars: SVG.
func picture(groups []group) string {
	if len(groups) == 0 {
		return ""
	}
	g := slices.MaxFunc(groups, func(a, b group) int { return len(a.entries) - len(b.entries) })
	most := 1.0
	for _, e := range g.entries {
		most = max(most, center(e.values[perSecond]))
	}
	var bars strings.Builder
	for i, e := range g.entries {
		rate, y := center(e.values[perSecond]), 44+24*i
		fmt.Fprintf(&bars, "<text x=\"8\" y=\"%d\">%s</text><rect x=\"190\" y=\"%d\" width=\"%.0f\" height=\"16\" fill=\"#4a90c4\"/><text x=\"%.0f\" y=\"%d\">%.0f</text>\n",
			y+13, e.who, y, 380*rate/most, 196+380*rate/most, y+13, rate)
	}
	height := 52 + 24*len(g.entries)
	// White behind everything: readable on any page.
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n"+
		"<rect width=\"640\" height=\"%d\" fill=\"#ffffff\"/>\n<text x=\"8\" y=\"24\" font-size=\"15\">Cold start of %s Foos: Foos per second (median)</text>\n%s</svg>\n",
		height, height, strings.Join(g.what, ", "), bars.String())
}
