//go:build bare

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/chapters/internal/chaptertest"
)

var (
	perNamespace = flag.Int("secrets", 100, "how many Secrets in each of 100 namespaces")
	chart        = flag.String("chart", "", "write the chart to this `file`")
)

const mib = 1 << 20

// TestCost takes each way on many Secrets, in a process of its own, changes two of them in each
// namespace meanwhile, and prints a table. It fails on a count, never on a time.
func TestCost(t *testing.T) {
	c := chaptertest.New(t)
	namespaces := make([]string, 100)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("cache-%02d", i)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaces[i]}}
		if _, err := c.Kube.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	fill(c, namespaces, *perNamespace, 4<<10)
	all, err := c.Kube.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	shard, _ := parseShard("1/3")
	inShard, touchedInShard := 0, 0
	for _, secret := range all.Items {
		if has(shard, &secret) {
			inShard++
			if secret.Name == "secret-0" || secret.Name == "secret-1" {
				touchedInShard++
			}
		}
	}
	table := "| way | objects | events | bytes on the wire | live heap | peak of the process | in sync | allocated by the server |\n|---|---|---|---|---|---|---|---|\n"
	var bars strings.Builder
	idle := allocated(c)
	idle = allocated(c) - idle
	for i, w := range ways {
		// What the program must hold, and hear of the two changes in each namespace.
		objects, events := len(all.Items), 200
		switch w.name {
		case "namespace":
			objects, events = *perNamespace, 2
		case "label", "field":
			objects, events = 100, 100
		case "shard":
			objects, events = inShard, touchedInShard
		case "handler":
			events = touchedInShard
		case "selectable":
			objects, events = 100, 0
		case "get":
			objects, events = 0, 0
		}
		before := allocated(c)
		p := c.Start("--kubeconfig", c.Kubeconfig, "--way", w.name, "--namespace", namespaces[0], "--secret", "secret-0", "--events", strconv.Itoa(events))
		peak := "–"
		if events > 0 {
			p.WaitFor("now waiting")
			status, err := p.Status()
			if err != nil {
				t.Fatal(err)
			}
			peak = fmt.Sprintf("%d MiB", status.VmHWM/mib)
		} else if code := p.Exit(); code != 0 {
			t.Fatalf("%s: exit code %d", w.name, code)
		}
		server := allocated(c) - before - idle
		if events > 0 {
			for _, namespace := range namespaces {
				for _, name := range []string{"secret-0", "secret-1"} {
					patch := fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, i)
					if _, err := c.Kube.CoreV1().Secrets(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if code := p.Exit(); code != 0 {
				t.Fatalf("%s: exit code %d", w.name, code)
			}
		}
		row := regexp.MustCompile(`(?m)^` + w.name + ` +(\d+) +(\d+) +(\d+) +(\d+) +(\S+)s `).FindStringSubmatch(p.Output())
		if row == nil || row[1] != strconv.Itoa(objects) {
			t.Errorf("%s: want %d objects", w.name, objects)
			continue
		}
		bytes, _ := strconv.ParseFloat(row[3], 64)
		heap, _ := strconv.ParseFloat(row[4], 64)
		table += fmt.Sprintf("| `%s` | %s | %s | %.1f MiB | %.1f MiB | %s | %s s | %.0f MiB |\n", w.name, row[1], row[2], bytes/mib, heap/mib, peak, row[5], float64(server)/mib)
		for bar, value := range []float64{bytes, heap} {
			y, width := 60+34*i+14*bar, 420*value/mib/80
			fmt.Fprintf(&bars, "<rect x=\"100\" y=\"%d\" width=\"%.0f\" height=\"12\" fill=\"%s\"/><text x=\"%.0f\" y=\"%d\">%.1f</text>\n", y, width, []string{"#4a90c4", "#c4774a"}[bar], 106+width, y+10, value/mib)
		}
		fmt.Fprintf(&bars, "<text x=\"8\" y=\"%d\">%s</text>\n", 76+34*i, w.name)
	}
	t.Logf("%d Secrets; the API server has %.0f MiB\n%s", len(all.Items), metric(c, "process_resident_memory_bytes")/mib, table)
	if *chart != "" {
		height := 68 + 34*len(ways)
		svg := fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"%[1]d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"640\" height=\"%[1]d\" fill=\"#ffffff\"/>\n"+
			"<text x=\"8\" y=\"24\" font-size=\"15\">%[2]d Secrets of 4 KiB, in MiB</text><text x=\"100\" y=\"46\" fill=\"#4a90c4\">on the wire</text><text x=\"180\" y=\"46\" fill=\"#c4774a\">live heap</text>\n%[3]s</svg>\n", height, len(all.Items), bars.String())
		if err := os.WriteFile(*chart, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// allocated is how many bytes the API server has allocated since it started.
func allocated(c *chaptertest.Cluster) float64 { return metric(c, "go_memstats_alloc_bytes_total") }

func metric(c *chaptertest.Cluster, name string) float64 {
	c.Helper()
	text, err := c.Kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(context.Background())
	if err != nil {
		c.Fatal(err)
	}
	match := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(text)
	if match == nil {
		c.Fatalf("the API server has no metric %s", name)
	}
	value, _ := strconv.ParseFloat(string(match[1]), 64)
	return value
}
