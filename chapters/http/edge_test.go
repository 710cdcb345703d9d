package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// scaled is an event: a person has changed the replicas of a Foo.
type scaled struct{ from, to int }

// Three loops that keep as many Pods as a Foo asks for. Each has the events that it hears of, what
// the store says in the end, and how many Pods there are.
var loops = []struct {
	name string
	run  func(events []scaled, wanted int, pods *int)
}{
	{"edge: adds what the event says", func(events []scaled, _ int, pods *int) {
		for _, event := range events {
			*pods += event.to - event.from
		}
	}},
	{"level: compares, at each event", func(events []scaled, wanted int, pods *int) {
		for range events {
			if *pods != wanted {
				*pods = wanted
			}
		}
	}},
	{"level with resync: compares, and once without an event", func(events []scaled, wanted int, pods *int) {
		for range len(events) + 1 {
			if *pods != wanted {
				*pods = wanted
			}
		}
	}},
}

// The table of README.md, by playing it: a Foo with 1 replica is scaled to 3, and to 5.
func TestEdgeAndLevel(t *testing.T) {
	deliveries := []struct {
		name   string
		events []scaled
	}{
		{"each event once", []scaled{{1, 3}, {3, 5}}},
		{"both lost", nil},
		{"the last of two alone", []scaled{{3, 5}}},
		{"the first one twice", []scaled{{1, 3}, {1, 3}, {3, 5}}},
	}
	table := "| |"
	for _, delivery := range deliveries {
		table += " " + delivery.name + " |"
	}
	table += "\n|---" + strings.Repeat("|---", len(deliveries)) + "|\n"
	for _, loop := range loops {
		table += "| " + loop.name + " |"
		for _, delivery := range deliveries {
			pods := 1
			loop.run(delivery.events, 5, &pods)
			table += fmt.Sprintf(" %d |", pods)
		}
		table += "\n"
	}
	readme, err := os.ReadFile("README.md")
	if err != nil || !strings.Contains(string(readme), table) {
		t.Errorf("README.md does not have (%v)\n%s", err, table)
	}
}
