package observer

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/utils/lru"

	"example.com/byhand/internal/observe/trace"
)

// event is what happened to an object in a store. Our own write of it is known by id: the
// version that it has, or the UID that it had.
type event struct {
	what, kind, key, id string
	initial             bool
}

// cause is why a key is added: an event, or a text. seq is the number of its step.
type cause struct {
	seq   int64
	event *event
	text  string
}

// words says it, without the namespace, which is the reconciled object's own.
func (c cause) words(o *Observer) string {
	if c.event == nil {
		return c.text
	}
	e := c.event
	name := e.kind + " " + path.Base(e.key)
	switch {
	case e.initial:
		return name + " in the first list"
	case e.what != trace.Resync && e.what != trace.Relisted && o.own.of(e.kind, e.id) != 0:
		return fmt.Sprintf("our own write: %s %s", name, e.what)
	default:
		return name + " " + e.what
	}
}

// maxCauses is how many causes of one reconcile are named.
const maxCauses = 4

// causes are the first ones for which a key waits, each once.
type causes []cause

func (c *causes) add(one cause) {
	if one != (cause{}) && len(*c) < maxCauses && !slices.Contains(*c, one) {
		*c = append(*c, one)
	}
}

// seq is the number of the step that came first.
func (c causes) seq() int64 {
	if len(c) == 0 {
		return 0
	}
	return c[0].seq
}

// words names each cause once. Call it while steps are published.
func (c causes) words(o *Observer) string {
	var all []string
	for _, one := range c {
		if words := one.words(o); words != "" && !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	return strings.Join(all, "; ")
}

// maxRemembered is how many things are remembered. The echo of a write is back within
// milliseconds.
const maxRemembered = 16 << 10

// remembered has the numbers of steps by the kind of an object and its version or UID: the
// newest. It is safe for concurrent use.
type remembered struct{ newest *lru.Cache }

func (r remembered) add(kind, id string, seq int64) {
	if id != "" {
		r.newest.Add(kind+" "+id, seq)
	}
}

// of returns the number, or 0.
func (r remembered) of(kind, id string) int64 {
	seq, _ := r.newest.Get(kind + " " + id)
	number, _ := seq.(int64)
	return number
}
