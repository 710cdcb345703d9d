// Package requests counts what an API server has answered, by the server's own metrics.
// The tests use it, and compare/harness.
package requests

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// Request is a sort of request: what apiserver_request_total tells apart.
type Request struct {
	Verb, Resource, Subresource, Code string
}

func (r Request) String() string {
	text := r.Verb + " " + r.Resource
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	return text + " " + r.Code
}

// Object reports whether it concerns a Foo or a Deployment.
func (r Request) Object() bool { return r.Resource == "foos" || r.Resource == "deployments" }

// Read reports whether it changes nothing.
func (r Request) Read() bool { return slices.Contains([]string{"GET", "LIST", "WATCH"}, r.Verb) }

// Counts is how many requests of each sort an API server has answered. Refused ones
// count as well.
type Counts map[Request]int

// Read asks the API server. Never during a measurement: the answer costs it time.
func Read(ctx context.Context, server rest.Interface) (Counts, error) {
	text, err := server.Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics of the API server: %w", err)
	}
	return Parse(string(text))
}

// Parse reads an API server's metrics.
func Parse(text string) (Counts, error) {
	const total = "apiserver_request_total"
	// Of the megabytes only what is wanted.
	var wanted strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, total+"{") {
			wanted.WriteString(line)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(wanted.String()))
	if err != nil || families[total] == nil {
		return nil, fmt.Errorf("metrics of the API server: no %s (%v)", total, err)
	}
	counts := Counts{}
	for _, metric := range families[total].Metric {
		label := map[string]string{}
		for _, pair := range metric.Label {
			label[pair.GetName()] = pair.GetValue()
		}
		counts[Request{label["verb"], label["resource"], label["subresource"], label["code"]}] += int(metric.GetUntyped().GetValue())
	}
	return counts, nil
}

// Minus returns what has been answered since before.
func (c Counts) Minus(before Counts) Counts {
	difference := Counts{}
	for request, n := range c {
		if n -= before[request]; n != 0 {
			difference[request] = n
		}
	}
	return difference
}

// Only returns the requests for which keep is true.
func (c Counts) Only(keep func(Request) bool) Counts {
	kept := maps.Clone(c)
	maps.DeleteFunc(kept, func(r Request, _ int) bool { return !keep(r) })
	return kept
}

// Sum is the number of all requests.
func (c Counts) Sum() (sum int) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// Writes returns the writes of Foos and Deployments.
func (c Counts) Writes() Counts {
	return c.Only(func(r Request) bool { return r.Object() && !r.Read() })
}

// Reads returns the reads of Foos and Deployments. A watch counts when it ends.
func (c Counts) Reads() Counts {
	return c.Only(func(r Request) bool { return r.Object() && r.Read() })
}

// Conflicts returns the writes of Foos and Deployments that were refused with 409.
func (c Counts) Conflicts() Counts {
	return c.Writes().Only(func(r Request) bool { return r.Code == "409" })
}

// Events returns the writes of Events.
func (c Counts) Events() Counts {
	return c.Only(func(r Request) bool { return r.Resource == "events" && !r.Read() })
}
