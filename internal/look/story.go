package look

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/trace"
)

// mostFound is how many objects of a first list are told one by one.
const mostFound = 20

// story is what is printed: a line for what came, and a line for what went.
type story struct {
	out   io.Writer
	found map[string]int // by resource
	lost  bool           // the API server does not answer
	last  int64          // step
}

// line prints one. No object can print control characters.
func (s *story) line(at time.Time, word, text string) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '�'
	}, text)
	_, _ = fmt.Fprintf(s.out, "%s  %-7s  %s\n", at.Format("15:04:05.000"), word, text)
}

// say prints a line, which the page has, too.
func (g *Glass) say(n note, word, format string, args ...any) {
	n.Text = fmt.Sprintf(format, args...)
	g.story.line(n.Time, word, n.Text)
}

// tell makes a line of a note, if it is worth one.
func (g *Glass) tell(n note) {
	if n.code == 0 && len(n.body) > 0 && !g.story.lost {
		g.say(n, "look", "no answer from the API server: %s. Is it still running?", n.body)
	}
	g.story.lost = n.code == 0 && (g.story.lost || len(n.body) > 0)
	if missing := n.Seq - g.story.last - 1; missing > 0 {
		g.story.line(n.Time, "look", fmt.Sprintf("%d events and requests are not told: too many at once", missing))
	}
	g.story.last = n.Seq
	body := decode(n.body)
	g.reads(n, body)
	switch {
	case n.What == trace.Opened:
		g.say(n, "watches", "%s%s", n.resource, in(n.namespace))
	case n.What == trace.Received:
		g.received(n, body)
	case n.What == trace.Listed:
		g.listed(n, body)
	case n.What == trace.Refused && n.code != 0:
		g.say(n, "refused", "%s of %s%s → %d %s", map[bool]string{true: "watch", false: "list"}[n.watch], n.resource, in(n.namespace), n.code, text(body, "message"))
	case n.isWrite() && n.What != trace.Sent:
		g.wrote(n, body)
	}
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in " + namespace
}

// listed tells a list.
func (g *Glass) listed(n note, body map[string]any) {
	items, _ := body["items"].([]any)
	for _, item := range items {
		content, ok := item.(map[string]any)
		if !ok {
			continue
		}
		now := g.read(n.target, content)
		before, what := g.world.learn(n.target, now), "was in a list"
		switch {
		case before != nil && before.version == now.version:
			continue
		case before != nil:
			what = "was another one in a list"
		}
		g.happened(happening{at: n.Time, what: what, object: now})
		switch g.story.found[n.resource]++; {
		case g.story.found[n.resource] <= mostFound:
			g.story.line(n.Time, "found", now.name())
		case g.story.found[n.resource] == mostFound+1:
			g.story.line(n.Time, "found", "more of "+n.resource+" are not told one by one")
		}
	}
}

// received tells an event of a watch.
func (g *Glass) received(n note, body map[string]any) {
	content, _ := body["object"].(map[string]any)
	kind := watch.EventType(text(body, "type"))
	switch {
	case kind == watch.Error:
		g.say(n, "refused", "watch of %s%s: %s", n.resource, in(n.namespace), text(content, "message"))
		return
	case kind == watch.Bookmark || nameOf(content) == "":
		n.Text = string(kind)
		return
	}
	now := g.read(n.target, content)
	own := g.world.ownOf(n, now, kind == watch.Deleted)
	before := g.world.learn(n.target, now)
	h := happening{at: n.Time, what: "was changed", echo: own != nil, by: writer(before, now), object: now}
	g.about(n, now)
	n.Echo = h.echo
	changed, by := "", ""
	switch {
	case kind == watch.Deleted:
		g.world.forget(n.target, now.key)
		h.what, h.by = "was deleted", ""
	case own != nil:
		// The answer tells what has changed, and may be told later.
		own.told, own.before = true, before
	case before != nil && before.version == now.version:
		return // The stream of a list that was opened again.
	case kind == watch.Added:
		h.what = "was added"
	default:
		changed = colon(changes(before, now))
	}
	g.happened(h)
	switch {
	case own != nil && kind != watch.Deleted:
		return
	case own != nil:
		by = " (its own write)"
	case h.by != "":
		by = " (by " + h.by + ")"
	}
	g.say(n, strings.TrimPrefix(h.what, "was "), "%s%s%s", now.name(), changed, by)
}

// about says what object a step is about, and whose it is.
func (g *Glass) about(n note, o *object) {
	n.Kind, n.Key, n.Version, n.Object = o.kind, o.key, o.version, o.fields
	_, n.For = g.world.root(o)
}

func (g *Glass) happened(h happening) {
	g.findings.hear(h.object, h.what == "was deleted")
	g.world.all.add(h)
	g.world.happened(h.object).add(h)
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// wrote tells a write of the program.
func (g *Glass) wrote(n note, body map[string]any) {
	request := plain(n.sent.take())
	sent := decode(request)
	if n.name == "" {
		n.name = nameOf(sent)
	}
	key := keyOf(n.namespace, n.name)
	result, failed, changed, about := fmt.Sprint(n.code), "", "", g.world.last(n.target, key)
	var before *object
	switch {
	case n.code == 0:
		result, failed = "no answer", "no answer"
	case n.code >= http.StatusBadRequest:
		failed = fmt.Sprintf("%d %s", n.code, text(body, "reason"))
		if n.resource != "secrets" {
			changed = text(body, "message")
		}
	case n.method == http.MethodDelete && nameOf(body) == "":
		g.world.forget(n.target, key)
	case nameOf(body) != "" && (n.subresource == "" || n.subresource == "status"): // Others answer with another kind, or a token.
		about = g.read(n.target, body)
		before = g.world.before(n.exchange, about)
		g.world.learn(n.target, about)
		if changed = changes(before, about); changed == "" && before != nil && before.version == about.version {
			changed = "nothing changed"
		}
	}
	if about == nil {
		about = g.read(n.target, sent)
	}
	h := g.world.happened(about)
	last, now, why := g.world.cause(h, n, request, failed)
	now.changed = changed
	g.about(n, about)
	g.say(n, "sent", "%s %s → %s%s  (%s)", n.method, n.path, result, colon(changed), why)
	n.Cause = why
	if len(h.sent) == mostSent {
		clear(h.sent)
	}
	h.sent[n.key()] = g.judge(n, text(sent, "metadata", "resourceVersion"), before, about, last, now)
}
