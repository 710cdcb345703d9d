// Package requests counts what an API server has answered, by the server's own metrics.
// The tests use it, and chapters/compare/harness.
package requests

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// Request is a sort of request: what apiserver_request_total tells apart.
type Request struct {
	Verb, Resource, Subresource, Code string
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
	counts := Counts{}
	for line := range strings.Lines(text) {
		// The labels have simple values: no quote and no brace is in one.
		labels, value, found := strings.Cut(strings.TrimSpace(line), "} ")
		if !found || !strings.HasPrefix(labels, total+"{") {
			continue
		}
		label := map[string]string{}
		for _, pair := range labelPair.FindAllStringSubmatch(labels, -1) {
			label[pair[1]] = pair[2]
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("metrics of the API server: %w", err)
		}
		counts[Request{label["verb"], label["resource"], label["subresource"], label["code"]}] += int(n)
	}
	if len(counts) == 0 {
		return nil, fmt.Errorf("metrics of the API server: no %s", total)
	}
	return counts, nil
}

var labelPair = regexp.MustCompile(`(\w+)="([^"]*)"`)

// Minus returns the requests answered since before.
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

// Conflicts returns the writes of Foos and Deployments that were refused with 409.
func (c Counts) Conflicts() Counts {
	return c.Writes().Only(func(r Request) bool { return r.Code == "409" })
}
