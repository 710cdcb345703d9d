package main

import (
	"bytes"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"example.com/byhand/compare/peers"
)

// bar is one measurement in a picture: a line of it, a colour, and a value with its
// smallest and largest.
type bar struct {
	row           string
	series        int
	value, lo, hi float64
	text          string
}

// width is the width of a picture.
const width vg.Length = 640

// wholeTicks are gonum's, with labels as they are in the tables.
type wholeTicks struct{ plot.DefaultTicks }

func (t wholeTicks) Ticks(min, max float64) []plot.Tick {
	ticks := t.DefaultTicks.Ticks(min, max)
	for i := range ticks {
		if !ticks[i].IsMinor() {
			ticks[i].Label = whole(ticks[i].Value)
		}
	}
	return ticks
}

// The colours of the series, of which the darkest is the last.
var colours = []color.Color{
	color.RGBA{0x9e, 0xc5, 0xe8, 0xff}, color.RGBA{0x4a, 0x90, 0xc4, 0xff}, color.RGBA{0x1b, 0x4f, 0x7d, 0xff},
}

// drawBars draws a line of horizontal bars for each row, one for each series. Without
// bars it returns nothing.
func drawBars(title string, series []string, bars []bar) ([]byte, error) {
	if len(bars) == 0 {
		return nil, nil
	}
	p, place := canvas(title, bars)
	p.X.Min, p.X.Tick.Marker = 0, wholeTicks{}
	step := 0.8 / float64(len(series))
	for i, name := range series {
		labels := plotter.XYLabels{}
		for _, b := range bars {
			// Room for the legend, to the right of everything.
			p.X.Max = max(p.X.Max, b.hi*1.3)
			if b.series != i {
				continue
			}
			y := place(b.row) + 0.4 - step*(float64(i)+0.5)
			drawn, err := plotter.NewBarChart(plotter.Values{b.value}, vg.Points(26*step))
			if err != nil {
				return nil, err
			}
			drawn.Horizontal, drawn.XMin, drawn.Color, drawn.LineStyle.Width = true, y, colours[(i+len(colours)-len(series))%len(colours)], 0
			spread, err := plotter.NewLine(plotter.XYs{{X: b.lo, Y: y}, {X: b.hi, Y: y}})
			if err != nil {
				return nil, err
			}
			p.Add(drawn, spread)
			if len(labels.XYs) == 0 && name != "" {
				p.Legend.Add(name, drawn)
			}
			labels.XYs, labels.Labels = append(labels.XYs, plotter.XY{X: b.hi, Y: y}), append(labels.Labels, b.text)
		}
		if err := addLabels(p, labels); err != nil {
			return nil, err
		}
	}
	return svg(p, len(p.Y.Tick.Marker.Ticks(0, 0)), len(series))
}

// drawRanges draws a horizontal line from the smallest to the largest value of each
// bar, on a logarithmic scale. All must be greater than zero.
func drawRanges(title string, series []string, bars []bar) ([]byte, error) {
	if len(bars) == 0 {
		return nil, nil
	}
	for _, b := range bars {
		if !(b.lo > 0 && b.hi > 0) {
			return nil, fmt.Errorf("%s has waited from %g to %g seconds, which no logarithmic scale shows and nobody can measure: measure it again", b.row, b.lo, b.hi)
		}
	}
	p, place := canvas(title, bars)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.X.Min, p.X.Max = bars[0].lo, bars[0].hi
	step := 0.8 / float64(len(series))
	for i, name := range series {
		labels := plotter.XYLabels{}
		for _, b := range bars {
			p.X.Min, p.X.Max = min(p.X.Min, b.lo/2), max(p.X.Max, b.hi*50)
			if b.series != i {
				continue
			}
			y := place(b.row) + 0.4 - step*(float64(i)+0.5)
			ends := plotter.XYs{{X: b.lo, Y: y}, {X: b.hi, Y: y}}
			line, points, err := plotter.NewLinePoints(ends)
			if err != nil {
				return nil, err
			}
			line.Width, line.Color = vg.Points(3), colours[1+i]
			points.Shape, points.Color, points.Radius = draw.CircleGlyph{}, colours[1+i], vg.Points(4)
			p.Add(line, points)
			if len(labels.XYs) == 0 {
				p.Legend.Add(name, line, points)
			}
			labels.XYs, labels.Labels = append(labels.XYs, plotter.XY{X: b.hi, Y: y}), append(labels.Labels, b.text)
		}
		if err := addLabels(p, labels); err != nil {
			return nil, err
		}
	}
	return svg(p, len(p.Y.Tick.Marker.Ticks(0, 0)), len(series))
}

// canvas returns an empty plot with a line for each row, and where each line is.
func canvas(title string, bars []bar) (p *plot.Plot, place func(row string) float64) {
	var rows []string
	for _, b := range bars {
		if !slices.Contains(rows, b.row) {
			rows = append(rows, b.row)
		}
	}
	// In the order of the tables, the first one on top.
	order := func(name string) int {
		return slices.IndexFunc(peers.All(), func(p peers.Peer) bool { return p.Name == name })
	}
	slices.SortFunc(rows, func(a, b string) int { return order(a) - order(b) })
	place = func(row string) float64 { return float64(len(rows) - 1 - slices.Index(rows, row)) }
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	p = plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = "\n" + title // gonum leaves no margin
	p.Title.Padding = vg.Points(8)
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs, p.Legend.Padding = true, true, width-vg.Points(255), vg.Points(3)
	var ticks plot.ConstantTicks
	// Blanks, because another font than the one that is measured here may be wider.
	for _, row := range rows {
		ticks = append(ticks, plot.Tick{Value: place(row), Label: row + "      "})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.LineStyle.Width = ticks, 0, 0
	p.Y.Min, p.Y.Max = -0.5, float64(len(rows))-0.5
	return p, place
}

func addLabels(p *plot.Plot, labels plotter.XYLabels) error {
	if len(labels.XYs) == 0 {
		return nil
	}
	drawn, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	for i := range drawn.TextStyle {
		drawn.TextStyle[i].YAlign = draw.YCenter
	}
	drawn.Offset = vg.Point{X: vg.Points(6)}
	p.Add(drawn)
	return nil
}

// svg draws the plot. Where its font is missing, one of the same measures will do.
func svg(p *plot.Plot, rows, series int) ([]byte, error) {
	height := vg.Points(70 + float64(rows)*max(24, 14*float64(series)))
	drawn, err := p.WriterTo(width, height, "svg")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := drawn.WriteTo(&out); err != nil {
		return nil, err
	}
	const family = "font-family:Liberation Sans"
	return bytes.ReplaceAll(out.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif")), nil
}
