package trace

import (
	"fmt"
	"slices"
	"strings"
)

// cause is why a key is added: what happened to an object, or a text.
type cause struct {
	seq                      int64
	what, kind, key, version string
	initial                  bool
	echo                     bool
	text                     string
}

// words says it, without the namespace, which is the Foo's own. What was not known
// as our own write when it happened may be now.
func (c cause) words(r *Recorder) string {
	_, name, _ := strings.Cut(c.key, "/")
	switch {
	case c.what == "":
		return c.text
	case c.initial:
		return fmt.Sprintf("%s %s in the first list", c.kind, name)
	case c.what == Resync:
		return fmt.Sprintf("resync of %s %s", c.kind, name)
	case c.echo || r.writes.of(versionName(c.kind, c.key, c.version)) != 0:
		return fmt.Sprintf("our own write: %s %s %s", c.kind, name, c.what)
	default:
		return fmt.Sprintf("%s %s %s", c.kind, name, c.what)
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

// words names each cause once.
func (c causes) words(r *Recorder) string {
	var all []string
	named := map[string]bool{}
	for _, one := range c.first {
		if words := one.words(r); words != "" && !named[words] {
			named[words] = true
			all = append(all, words)
		}
	}
	if c.more > 0 {
		all = append(all, fmt.Sprintf("%d more", c.more))
	}
	return strings.Join(all, "; ")
}
