package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// scaled is an event: a user has changed a Foo's replicas.
type scaled struct{ from, to int }

// TestEdgeAndLevel computes README.md's table: a Foo with 1 replica is scaled to 3, then to 5. Each
// of the three loops gets the events that arrive, and the final number in the store.
func TestEdgeAndLevel(t *testing.T) {
	table := "| | each event once | both lost | only the second | the first one twice |\n|---|---|---|---|---|\n"
	deliveries := [][]scaled{{{1, 3}, {3, 5}}, nil, {{3, 5}}, {{1, 3}, {1, 3}, {3, 5}}}
	row := func(name string, loop func(events []scaled, pods, wanted int) int) {
		table += "| " + name + " |"
		for _, events := range deliveries {
			table += fmt.Sprintf(" %d |", loop(events, 1, 5))
		}
		table += "\n"
	}
	row("edge: adds what the event says", func(events []scaled, pods, _ int) int {
		for _, event := range events {
			pods += event.to - event.from
		}
		return pods
	})
	level := func(events []scaled, pods, wanted int) int {
		for range events {
			if pods != wanted {
				pods = wanted
			}
		}
		return pods
	}
	row("level: compares, at each event", level)
	row("level with resync: compares, and once without an event", func(events []scaled, pods, wanted int) int {
		return level(append(events, scaled{}), pods, wanted)
	})
	readme, err := os.ReadFile("README.md")
	if err != nil || !strings.Contains(string(readme), table) {
		t.Errorf("README.md lacks (%v)\n%s", err, table)
	}
}
