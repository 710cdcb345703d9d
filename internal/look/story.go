package look

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/watch"
)

// mostFound is how many objects of a first list are told one by one.
const mostFound = 20

// story is what is printed: a line for what came, and a line for what went.
type story struct {
	out   io.Writer
	found map[string]int // by resource
	first map[string]bool
}

func newStory(out io.Writer) *story {
	return &story{out: out, found: map[string]int{}, first: map[string]bool{}}
}

// line prints one. No object can print control characters.
func (s *story) line(at time.Time, word, format string, args ...any) {
	text := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '�'
	}, fmt.Sprintf(format, args...))
	_, _ = fmt.Fprintf(s.out, "%s  %-7s  %s\n", at.Format("15:04:05.000"), word, text)
}

// tell makes a line of a note, if it is worth one.
func (g *Glass) tell(n note) {
	switch seen := n.seen.(type) {
	case string:
		g.story.line(n.at, "look", "%s", seen)
	case *opened:
		g.story.first[seen.resource] = true
		g.story.line(n.at, "watches", "%s%s", seen.resource, in(seen.namespace))
	case *refusal:
		g.story.line(n.at, "refused", "%s of %s%s → %s", map[bool]string{true: "watch", false: "list"}[seen.watch], seen.resource, in(seen.namespace), seen.status)
	case *list:
		g.listed(n.at, seen)
	case *event:
		g.received(n.at, seen)
	case *write:
		g.wrote(n.at, seen)
	}
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in " + namespace
}

// listed tells a list.
func (g *Glass) listed(at time.Time, l *list) {
	body := decode(l.answer)
	items, _ := body["items"].([]any)
	for _, item := range items {
		if content, ok := item.(map[string]any); ok {
			content["kind"] = strings.TrimSuffix(text(body, "kind"), "List")
			g.find(at, l.target, content)
		}
	}
}

// find tells an object of a first list.
func (g *Glass) find(at time.Time, t target, content map[string]any) {
	now := read(content)
	if before := g.world.learn(t, now); before == nil {
		g.happened(now, happening{at, now.name() + " was in a list", false})
	} else if before.version != now.version {
		g.happened(now, happening{at, now.name() + " was another one in a list", false})
	} else {
		return
	}
	switch g.story.found[t.resource]++; {
	case g.story.found[t.resource] <= mostFound:
		g.story.line(at, "found", "%s", now.name())
	case g.story.found[t.resource] == mostFound+1:
		g.story.line(at, "found", "more of %s are not told one by one", t.resource)
	}
}

// received tells an event of a watch.
func (g *Glass) received(at time.Time, e *event) {
	body := decode(e.line)
	content, _ := body["object"].(map[string]any)
	kind := watch.EventType(text(body, "type"))
	switch {
	case kind == watch.Error:
		g.story.line(at, "refused", "watch of %s%s: %s", e.resource, in(e.namespace), text(content, "message"))
		return
	case kind == watch.Bookmark || nameOf(content) == "":
		return
	}
	isDeleted, now := kind == watch.Deleted, read(content)
	own := g.world.ownOf(e, at, now, isDeleted)
	if own != nil && !isDeleted {
		// The answer tells what has changed, and may be told later.
		own.told, own.before = true, g.world.learn(e.target, now)
		g.happened(now, happening{at, now.name() + " was changed", true})
		return
	}
	before := g.world.learn(e.target, now)
	switch {
	case isDeleted:
		g.world.forget(e.target, now)
		g.hear(at, now, "deleted", "", "", own != nil)
	case before != nil && before.version == now.version:
		// The stream of a list that was opened again.
	case kind == watch.Added:
		g.hear(at, now, "added", "", writer(before, now), false)
	default:
		g.hear(at, now, "changed", changes(before, now), writer(before, now), false)
	}
}

func (g *Glass) happened(o *object, one happening) {
	g.world.happened(g.world.root(o)).add(one)
}

// hear tells what happened to an object, and who did it.
func (g *Glass) hear(at time.Time, o *object, what, changed, by string, isOwn bool) {
	g.happened(o, happening{at, o.name() + " was " + what, isOwn})
	if changed != "" {
		changed = ": " + changed
	}
	switch {
	case isOwn:
		by = " (its own write)"
	case by != "":
		by = " (by " + by + ")"
	}
	g.story.line(at, what, "%s%s%s", o.name(), changed, by)
}

// wrote tells a write of the program.
func (g *Glass) wrote(at time.Time, w *write) {
	body := decode(w.answer)
	sent := decode(w.sent.bytes())
	if w.name == "" {
		w.name = nameOf(sent)
	}
	result, failed, what, about := fmt.Sprint(w.code), "", "", g.world.known(w.target, keyOf(w.namespace, w.name))
	switch {
	case w.err != nil:
		result, failed = "no answer", "no answer"
	case w.code >= http.StatusBadRequest:
		failed = fmt.Sprintf("%d %s", w.code, text(body, "reason"))
		what = ": " + text(body, "message")
	case nameOf(body) != "":
		about = read(body)
		before := g.world.before(w.exchange, about)
		g.world.learn(w.target, about)
		if text := changes(before, about); text != "" {
			what = ": " + text
		} else if before != nil && before.version == about.version {
			what = ": nothing changed"
		}
	}
	if about == nil && sent != nil {
		about = read(sent)
	}
	if about == nil {
		about = &object{}
	}
	g.story.line(at, "sent", "%s %s → %s%s  (%s)", w.method, w.path, result, what, g.world.happened(g.world.root(about)).cause(w, failed))
}
