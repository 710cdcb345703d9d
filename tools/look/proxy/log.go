package proxy

import (
	"cmp"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/observe/wire"
)

// say makes a line of the log of a note, which the page has, too.
func (p *Proxy) say(n note, word, format string, args ...any) {
	n.Log, n.Text = word, fmt.Sprintf(format, args...)
}

// remark makes a line of the log of what the program neither heard nor sent. Unlike the others it
// may be called at any time.
func (p *Proxy) remark(word, format string, args ...any) {
	p.Record(&trace.Step{Part: trace.PartProgram, What: trace.Said, Log: word, Text: fmt.Sprintf(format, args...)}, nil)
}

// tell makes a line of a note, if it is worth one.
func (p *Proxy) tell(n note) {
	event, object := n.content()
	p.judgeRead(n, event)
	switch {
	case n.What == trace.Opened:
		p.say(n, "watches", "%s", n.where())
	case n.What == trace.Received:
		p.received(n, event, object)
	case n.What == trace.Listed:
		p.listed(n, wire.Decode(object))
	case n.What == trace.Refused:
		p.say(n, "refused", "%s of %s → %s %s", n.Verb(), n.where(), n.result(), text(wire.Decode(object), "message"))
	case n.What == trace.Sent:
		n.before = p.world.known(n.resource, n.objectKey())
	case n.isWrite():
		p.wrote(n)
	}
}

// result is the code of an answer, or why there is none.
func (n note) result() string {
	if n.code == 0 {
		return "no answer: " + string(n.body)
	}
	return fmt.Sprint(n.code)
}

// listed tells a list.
func (p *Proxy) listed(n note, body map[string]any) {
	items, _ := body["items"].([]any)
	r := p.findings.reading(n)
	for _, item := range items {
		content, _ := item.(map[string]any)
		var meta metav1.PartialObjectMetadata
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &meta)
		now := n.read(meta, content)
		r.told(now.key())
		if before := p.world.learn(now); before == nil || before.ResourceVersion != now.ResourceVersion {
			p.happened(n, happening{n.Step, "in a list", "", now})
		}
	}
	if _, isWhole := body["items"]; isWhole && text(body, "metadata", "continue") == "" { // A Table has no items.
		p.missing(n, r)
	}
	p.say(n, "listed", "%d of %s", len(items), n.where())
}

// missing tells what was deleted while nobody watched: a list that is complete has it no more.
func (p *Proxy) missing(n note, r *reading) {
	for key, list := range r.has {
		if list == r.lists {
			continue
		}
		delete(r.has, key)
		if o := p.world.known(n.resource, key); o != nil {
			o.gone = true
			p.happened(n, happening{n.Step, "deleted", "", o})
			p.remark("deleted", "%s: gone while nobody watched", o)
		}
	}
}

// received tells an event of a watch.
func (p *Proxy) received(n note, event watch.EventType, object []byte) {
	n.Text = string(event)
	r, meta := p.findings.reading(n), wire.Metadata(object)
	switch {
	case event == watch.Error:
		p.say(n, "refused", "watch of %s: %s", n.where(), text(wire.Decode(object), "message"))
		return
	case event == watch.Bookmark && meta.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		p.missing(n, r)
		return
	case event == watch.Bookmark || meta.Name == "":
		return
	}
	now, before := p.world.see(n.exchange, meta, object)
	r.told(now.key())
	p.about(n, now)
	n.Echo = p.world.isOwn(n, now)
	h := happening{n.Step, "changed", "", now}
	if before == nil || before.by != now.by || before.at != now.at {
		h.by = now.by
	}
	switch {
	case event == watch.Deleted:
		now.gone = true
		delete(r.has, now.key())
		h.what, h.by, before = "deleted", "", nil
	case n.Echo && event != watch.Added:
	case n.Echo || before == nil || before.UID != now.UID:
		h.what, before = "added", nil
	case before.ResourceVersion == now.ResourceVersion:
		return // The stream of a list that was opened again.
	}
	p.happened(n, h)
	if n.Echo {
		return // The answer tells what has changed.
	}
	line := now.String() + colon(changes(before, now))
	if h.by != "" {
		line += " (by " + h.by + ")"
	}
	p.say(n, h.what, "%s", line)
}

// about says what object a step is about, and whose it is.
func (p *Proxy) about(n note, o *object) {
	n.Kind, n.Key, n.Version, n.Object = o.Kind, o.key(), o.ResourceVersion, o.fields
	n.For = p.world.root(o)
}

func (p *Proxy) happened(n note, h happening) {
	p.findings.hear(n, h)
	p.world.happened = newest(append(p.world.happened, h), mostHappenings)
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// wrote tells a write of the program.
func (p *Proxy) wrote(n note) {
	sent := wire.Metadata(n.sent)
	n.Target.Name = cmp.Or(n.Target.Name, sent.Name, n.answer.Name) // That of a generateName is in the answer.
	key := n.objectKey()
	w := &write{note: n, from: sent.ResourceVersion, now: p.world.objects.of(n.resource + " " + key)}
	isObject := n.answer.Name != "" && (n.Target.Subresource == "" || n.Target.Subresource == "status") // Others answer with another kind, or a token.
	if w.now == nil && !isObject {
		w.now = n.read(sent, wire.Decode(n.sent))
	}
	switch {
	case n.code == 0:
		w.failed = "no answer"
	case n.code >= http.StatusBadRequest:
		status := wire.Decode(n.body)
		w.failed = fmt.Sprintf("%d %s", n.code, text(status, "reason"))
		if n.resource != "secrets" { // The message may quote what is in it.
			w.changed = text(status, "message")
		}
	case n.Method == http.MethodDelete && !isObject:
		w.now.gone = true
	case isObject:
		now, known := p.world.see(n.exchange, n.answer, n.body)
		if known == nil || isOlder(known.ResourceVersion, now.ResourceVersion) {
			w.before = known // Its event has not come yet.
		}
		w.now = now
		if w.before != nil && w.before.ResourceVersion != w.now.ResourceVersion {
			p.world.made.Add(n.resource+" "+key, w.now.ResourceVersion)
		}
		w.noOp = w.before != nil && w.before.ResourceVersion == w.now.ResourceVersion
		if w.changed = changes(w.before, w.now); w.changed == "" && w.noOp {
			w.changed = "nothing changed"
			if filled := changes(n.read(sent, wire.Decode(n.sent)), w.now); n.Method == http.MethodPut && filled != "" {
				w.changed += "; the API server put back " + filled
			}
		}
	}
	n.Cause = w.explain(p.world)
	p.about(n, w.now)
	p.say(n, "sent", "%s %s → %s%s  (%s)", n.Method, n.Path, n.result(), colon(w.changed), n.Cause)
	p.judgeWrite(w)
	w.last, w.before, w.body, w.sent = nil, nil, nil, nil
	p.world.sent.Add(n.key(), w)
}
