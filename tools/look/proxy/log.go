package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/observe/wire"
)

// say sets the log line of a note, which the page shows, too.
func (p *Proxy) say(n note, word, format string, args ...any) {
	n.Log, n.Text = word, fmt.Sprintf(format, args...)
}

// remark adds a log line that is not a message of the program. Unlike the other methods here it may be
// called at any time.
func (p *Proxy) remark(word, format string, args ...any) {
	p.Record(&trace.Step{Part: trace.PartProgram, What: trace.Said, Log: word, Text: fmt.Sprintf(format, args...)}, func(step *trace.Step) {
		if p.isReplay {
			step.Time = p.now
		}
	})
}

// tell logs a note that is worth a line, and adds to its step the data that a recording needs.
func (p *Proxy) tell(n note) {
	p.now = n.Time
	if n.What == trace.Answered && !n.isWrite() && n.body != nil {
		n.Version = wire.Metadata(n.body).ResourceVersion
	}
	if n.What != trace.Received && n.What != trace.Ended {
		p.world.sends(n.At)
	}
	p.judgeRead(n)
	switch {
	case n.What == trace.Opened:
		p.say(n, "watches", "%s", n.where())
	case n.What == trace.Received:
		p.received(n)
	case n.What == trace.Listed:
		p.listed(n, wire.Decode(n.body))
	case n.What == trace.Refused:
		p.say(n, "refused", "%s of %s → %s%s", n.Verb(), n.where(), n.result(), colon(n.status().Message))
	case n.What == trace.Sent && n.isWrite():
		n.sent = n.read(wire.Metadata(n.body), wire.Decode(n.body))
		n.Step.Request.Body = string(n.sent.fields)
		n.before = p.world.known(n.resource, n.objectKey())
	case n.What != trace.Sent && n.isWrite():
		p.wrote(n)
	}
}

// result is the status code of a response.
func (n note) result() string {
	if n.code == 0 {
		return "no answer"
	}
	return fmt.Sprint(n.code)
}

// status returns a received Status, and keeps it in the step. For a Secret it drops the message, which may
// quote data.
func (n note) status() (status metav1.Status) {
	_ = json.Unmarshal(wire.JSON(n.body), &status)
	if n.resource == "secrets" && n.code > 0 {
		status.Message, status.Details = "", nil
	}
	n.keep(status)
	return status
}

// keep keeps in the step a response that is no object.
func (n note) keep(response any) {
	text, _ := json.Marshal(response) // It cannot fail.
	n.Step.Request.Reply = string(text)
}

func (p *Proxy) listed(n note, body map[string]any) {
	items, _ := body["items"].([]any) // A Table has no items.
	all := []json.RawMessage{}
	for _, item := range items {
		content, _ := item.(map[string]any)
		var meta metav1.PartialObjectMetadata
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &meta)
		now := n.read(meta, content)
		all = append(all, now.fields)
		before := p.world.learn(now)
		if now.heard = true; before == nil || before.ResourceVersion != now.ResourceVersion {
			p.happened(happening{n.Step, "in a list", "", now})
		}
	}
	if items != nil {
		n.keep(map[string]any{"items": all})
	}
	p.say(n, "listed", "%d %s", len(items), n.where())
}

func (p *Proxy) received(n note) {
	event, meta := watch.EventType(n.Step.Request.Event), wire.Metadata(n.body)
	n.Text = string(event)
	switch {
	case event == watch.Error:
		p.say(n, "refused", "watch of %s: %s", n.where(), n.status().Message)
		return
	case event == watch.Bookmark && meta.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		n.Object, _ = json.Marshal(meta)
		p.say(n, "listed", "%d %s", n.listed, n.where())
		n.isListing = false
		return
	case event == watch.Bookmark || meta.Name == "":
		return
	}
	now, before := p.world.see(n.exchange, meta, n.body)
	n.listed++
	p.about(n, now)
	n.Echo = n.Echo || p.world.isOwn(n, now) // A recording has it.
	if now.heard {
		return // The program has received this version before, perhaps by another watch.
	}
	now.heard = true
	h := happening{n.Step, "changed", "", now}
	if before == nil || before.by != now.by || before.at != now.at {
		h.by = now.by
	}
	switch {
	case event == watch.Deleted:
		now.gone = true
		h.what, h.by, before = "deleted", "", nil
		p.judgeRejected(now)
	case n.Echo && event != watch.Added:
	case n.Echo || before == nil || before.UID != now.UID:
		h.what, before = "added", nil
	}
	p.happened(h)
	if n.Echo || n.isListing && h.what == "added" {
		return // The response shows the change, and the end of a list shows the count.
	}
	line := now.String() + colon(describe(changes(before, now)))
	if h.by != "" {
		line += " (by " + h.by + ")"
	}
	p.say(n, h.what, "%s", line)
}

// about sets the object of a step, and its owner, whose controller it concerns.
func (p *Proxy) about(n note, o *object) {
	n.Kind, n.Key, n.Version, n.Object = o.Kind, o.key(), o.ResourceVersion, o.fields
	n.For = o.String()
	if owner := controllerOf(o); owner.UID != "" {
		n.For = owner.Kind + " " + keyOf(o.Namespace, owner.Name)
	}
}

func (p *Proxy) happened(h happening) {
	p.findings.hear(h.object)
	p.world.happened = newest(append(p.world.happened, h), mostHappenings)
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func (p *Proxy) wrote(n note) {
	// With generateName, the name is in the response.
	n.Target.Name = cmp.Or(n.Target.Name, n.sent.Name, n.answer.Name)
	key := n.objectKey()
	w := &write{note: n, now: p.world.objects.of(n.resource + " " + key)}
	// Other subresources return another kind, or a token.
	isObject := n.answer.Name != "" && (n.Target.Subresource == "" || n.Target.Subresource == "status")
	if w.now == nil && !isObject {
		w.now = n.sent
		w.now.Namespace, w.now.Name, w.now.Kind = n.Target.Namespace, n.Target.Name, cmp.Or(n.kind, n.resource)
	}
	switch {
	case n.code == http.StatusNotFound && n.Method == http.MethodDelete: // The object is gone, as requested.
		w.now.gone = true
	case n.code == 0 || n.code >= http.StatusBadRequest:
		status := n.status()
		w.failed, w.changed = strings.TrimSpace(n.result()+" "+string(status.Reason)), status.Message
	case n.Method == http.MethodDelete && !isObject:
		_, w.now.gone = n.status(), true
	case isObject && n.before != nil && len(n.before.Finalizers) > 0 && isReleased(n.answer):
		cmp.Or(w.now, n.before).gone = true
		w.now, w.changed = n.read(n.answer, wire.Decode(n.body)), "the last finalizer was removed"
	case isObject:
		p.stored(w)
	}
	n.Cause = w.explain(p.world)
	p.about(n, w.now)
	p.say(n, "sent", "%s %s → %s%s  (%s)", n.Method, n.Path, n.result(), colon(w.changed), n.Cause)
	p.judgeWrite(w)
	w.last, w.before, w.body, w.sent = nil, nil, nil, nil
	p.world.sent.Add(n.key(), w)
}

// stored handles a response that contains the stored object.
func (p *Proxy) stored(w *write) {
	now, known := p.world.see(w.exchange, w.answer, w.body)
	if known == nil || isOlder(known.ResourceVersion, now.ResourceVersion) {
		w.before = known // Its event has not arrived yet.
	}
	w.now = now
	w.noOp = w.before != nil && w.before.ResourceVersion == now.ResourceVersion
	if w.before != nil && !w.noOp {
		p.world.made.Add(w.resource+" "+now.key(), now.ResourceVersion)
	}
	all := changes(w.before, now)
	w.changed, w.fields, w.onlyTimes = describe(all), fieldsOf(all), areTimes(all)
	if w.noOp {
		w.changed = "nothing changed"
		if filled := describe(changes(w.sent, now)); w.Method == http.MethodPut && filled != "" {
			w.changed += "; the API server filled in " + filled
		}
	}
}
