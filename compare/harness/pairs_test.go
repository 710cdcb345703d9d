package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// Each peer runs between two runs of the base, and its ratio is that to their mean: a machine
// that becomes slower by a tenth with each run changes no ratio by more than a hundredth. A
// peer that fails is a problem, and the others go on.
func TestPairs(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), rawFile))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{raw: &raw{file: file, writer: benchfmt.NewWriter(file)}}
	var order []string
	speed := 1.0
	measure := func(_ context.Context, peer peers.Peer, _ int) ([]benchfmt.Value, error) {
		order = append(order, peer.Name)
		speed *= 0.9
		rates := map[string]float64{"base": 200, "half": 100, "equal": 200}
		if rates[peer.Name] == 0 {
			return nil, errors.New("it does not work")
		}
		return []benchfmt.Value{value(rates[peer.Name]*speed, perSecond), value(2, writesEach)}, nil
	}
	others := []peers.Peer{{Name: "half"}, {Name: "broken"}, {Name: "equal"}}
	if err := b.pairs(t.Context(), "ColdStart", 10, peers.Peer{Name: "base"}, others, measure); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(order, " "), "base half base broken base equal base"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if len(b.problems) != 1 {
		t.Errorf("problems %v, want the broken one", b.problems)
	}
	in, err := os.Open(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	f, err := readRaw(in, rawFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range f.all {
		for peer, want := range map[string]float64{"half": 0.5, "equal": 1} {
			if got, _ := result.Value(ratio(perSecond)); strings.HasSuffix(string(result.Name), "peer="+peer) && (got < want*0.99 || got > want*1.01) {
				t.Errorf("%s: ratio %.3f, want %.3f", peer, got, want)
			}
		}
	}
}
