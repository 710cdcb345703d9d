package observer

import (
	"fmt"
	"slices"
	"strings"
)

// event is what happened to an object in a store.
type event struct {
	what, kind, key, version string
	initial                  bool
	// echo is known once the event is told, which is before every step that it leads
	// to.
	echo bool
}

// cause is why a key is added: an event, or a text. seq is the number of its step.
type cause struct {
	seq   int64
	event *event
	text  string
}

// words says it, without the namespace, which is the reconciled object's own. A write may
// be known as our own by now, though it was not when its event came. Call it while telling.
func (c cause) words(o *Observer) string {
	if c.event == nil {
		return c.text
	}
	e := *c.event
	name := nameOf(e.key)
	switch {
	case e.initial:
		return fmt.Sprintf("%s %s in the first list", e.kind, name)
	case e.what == Resync:
		return fmt.Sprintf("resync of %s %s", e.kind, name)
	case e.echo || o.writes.of(versionName(e.kind, e.key, e.version)) != 0:
		return fmt.Sprintf("our own write: %s %s %s", e.kind, name, e.what)
	default:
		return fmt.Sprintf("%s %s %s", e.kind, name, e.what)
	}
}

// mostCauses is how many causes of one reconcile are named. The others are counted.
const mostCauses = 4

// causes are why a key waits: the first ones, each once, and how many more there
// were.
type causes struct {
	first []cause
	more  int
}

func (c *causes) add(one cause) {
	if one == (cause{}) || slices.Contains(c.first, one) {
		return
	}
	if len(c.first) == mostCauses {
		c.more++
		return
	}
	c.first = append(c.first, one)
}

// seq is the number of the step that came first.
func (c causes) seq() int64 {
	if len(c.first) == 0 {
		return 0
	}
	return c.first[0].seq
}

// words names each cause once. Call it while telling.
func (c causes) words(o *Observer) string {
	var all []string
	for _, one := range c.first {
		if words := one.words(o); words != "" && !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	if c.more > 0 {
		all = append(all, fmt.Sprintf("%d more", c.more))
	}
	return strings.Join(all, "; ")
}
