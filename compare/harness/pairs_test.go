package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// Each peer runs between two runs of the base, and its ratio is that to their mean: a machine
// that becomes slower by a tenth with each run changes no ratio by more than a hundredth. A
// peer that fails is a problem, and the others go on.
func TestPairs(t *testing.T) {
	var out bytes.Buffer
	b := &bench{raw: benchfmt.NewWriter(&out)}
	var order []string
	speed := 1.0
	measure := func(_ context.Context, peer peers.Peer, _ int) ([]benchfmt.Value, error) {
		order = append(order, peer.Name)
		speed *= 0.9
		rates := map[string]float64{"floor-watch": 200, "byhand": 100, "floor": 200}
		if rates[peer.Name] == 0 {
			return nil, errors.New("it does not work")
		}
		return []benchfmt.Value{value(rates[peer.Name]*speed, perSecond), value(2, writesEach)}, nil
	}
	s := scenario{"ColdStart", 10, 1, "floor-watch", []string{"byhand", "controller-runtime", "floor"}}
	if err := b.pairs(t.Context(), s, measure); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(order, " "), "floor-watch byhand floor-watch controller-runtime floor-watch floor floor-watch"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if len(b.problems) != 1 {
		t.Errorf("problems %v, want the broken one", b.problems)
	}
	f, err := readRaw(out.Bytes())
	if err != nil || len(f) != 6 {
		t.Fatalf("%d lines, want one a run that worked (%v)", len(f), err)
	}
	for _, e := range f.groups("ColdStart")[0].entries {
		want, measured := map[string]float64{"byhand": 0.5, "floor": 1}[e.who]
		if got := summarize(e.values[ratio(perSecond)]).Center; measured && (got < want*0.99 || got > want*1.01) {
			t.Errorf("%s: ratio %.3f, want %.3f", e.who, got, want)
		}
	}
}
