//go:build bare

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

var (
	perNamespace = flag.Int("secrets", 100, "number of Secrets in each of 100 namespaces")
	chart        = flag.String("chart", "", "write the chart to this `file`")
)

const mib = 1 << 20

// TestCost runs each way on many Secrets, in a separate process, and prints a table and a chart. It
// checks counts, never times.
func TestCost(t *testing.T) {
	c := chaptertest.New(t)
	namespaces, yaml := make([]string, 100), ""
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("cache-%02d", i)
		yaml += "---\n{apiVersion: v1, kind: Namespace, metadata: {name: " + namespaces[i] + "}}\n"
	}
	c.Apply(yaml)
	fill(c, namespaces, *perNamespace, 4<<10)

	all := 100 * *perNamespace
	objects := map[string]int{"namespace": *perNamespace, "name": 1, "label": 100, "field": 100, "selectable": 100, "get": 0}
	table := "| `--way=` | objects | events | events/s | on the wire | live heap | peak | in sync | allocated by the server |\n|---|---|---|---|---|---|---|---|---|\n"
	bars := ""
	for i, w := range ways {
		before := metric(c, "go_memstats_alloc_bytes_total")
		output, err := exec.Command(chaptertest.Binary(), "--way", w.name, "--namespace", namespaces[0], "--secret", "secret-0").CombinedOutput()
		server := metric(c, "go_memstats_alloc_bytes_total") - before
		row := regexp.MustCompile(`(?m)^` + w.name + ` +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\S+)s `).FindSubmatch(output)
		if err != nil || row == nil {
			t.Fatalf("%s: %v\n%s", w.name, err, output)
		}
		value := func(i int) float64 { v, _ := strconv.ParseFloat(string(row[i]), 64); return v }
		want, fewer := objects[w.name]
		if got := int(value(1)); fewer && got != want || !fewer && w.name != "shard" && got < all || w.name == "shard" && (got < all/4 || got > all/2) {
			t.Errorf("%s: %d objects of %d", w.name, got, all)
		}
		table += fmt.Sprintf("| `%s` | %s | %s | %s | %.1f MiB | %.1f MiB | %.0f MiB | %s s | %.0f MiB |\n", w.name, row[1], row[2], row[3], value(4)/mib, value(5)/mib, value(6)/mib, row[7], server/mib)
		bars += fmt.Sprintf("<text x=\"8\" y=\"%d\">%s</text>\n", 76+34*i, w.name)
		for bar, color := range []string{"#4a90c4", "#c4774a"} {
			y, width := 60+34*i+14*bar, 5*value(4+bar)/mib
			bars += fmt.Sprintf("<rect x=\"100\" y=\"%d\" width=\"%.0f\" height=\"12\" fill=\"%s\"/><text x=\"%.0f\" y=\"%d\">%.1f</text>\n", y, width, color, 106+width, y+10, value(4+bar)/mib)
		}
	}
	t.Logf("%d Secrets; the API server has %.0f MiB at the end\n%s", all, metric(c, "process_resident_memory_bytes")/mib, table)
	height := 68 + 34*len(ways)
	svg := fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"%[1]d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"640\" height=\"%[1]d\" fill=\"#ffffff\"/>\n"+
		"<text x=\"8\" y=\"24\" font-size=\"15\">%[2]d Secrets of 4 KiB, in MiB</text><text x=\"100\" y=\"46\" fill=\"#4a90c4\">on the wire</text><text x=\"180\" y=\"46\" fill=\"#c4774a\">live heap</text>\n%[3]s</svg>\n", height, all, bars)
	if *chart != "" && os.WriteFile(*chart, []byte(svg), 0o644) != nil {
		t.Error("cannot write the chart")
	}
}

func metric(c *chaptertest.Cluster, name string) float64 {
	text, err := c.Kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(context.Background())
	_, after, found := strings.Cut(string(text), "\n"+name+" ")
	if err != nil || !found {
		c.Fatalf("the API server has no metric %s: %v", name, err)
	}
	line, _, _ := strings.Cut(after, "\n")
	value, _ := strconv.ParseFloat(line, 64)
	return value
}
