package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

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
		p.say(n, "refused", "%s of %s → %s %s", n.Verb(), n.where(), n.result(), n.status("message"))
	case n.What == trace.Sent && n.isWrite():
		n.sent = n.read(wire.Metadata(n.body), wire.Decode(n.body))
		n.Step.Request.Body = string(n.sent.fields)
		n.before = p.world.known(n.resource, n.objectKey())
	case n.What != trace.Sent && n.isWrite():
		p.wrote(n)
	}
}

// result is the status code of a response, or the reason for a missing one.
func (n note) result() string {
	if n.code == 0 {
		return "no answer: " + n.reply(n.body)
	}
	return fmt.Sprint(n.code)
}

// status returns a field of a received Status. For a Secret it drops the message, which may quote data.
func (n note) status(field string) string {
	if n.code == 0 {
		return ""
	}
	status := wire.Decode(n.body)
	if n.resource == "secrets" {
		delete(status, "message")
	}
	uid := map[string]any{"uid": text(status, "details", "uid")}
	reply, _ := json.Marshal(map[string]any{"reason": status["reason"], "message": status["message"], "details": uid})
	n.reply(reply)
	return text(status, field)
}

// reply keeps in the step a response that is no object.
func (n note) reply(came []byte) string {
	n.Step.Request.Reply = string(came)
	return string(came)
}

func (p *Proxy) listed(n note, body map[string]any) {
	items, isWhole := body["items"].([]any) // A Table has no items.
	isWhole = isWhole && text(body, "metadata", "continue") == "" && !n.Query.Has("continue")
	all := []json.RawMessage{}
	for _, item := range items {
		content, _ := item.(map[string]any)
		var meta metav1.PartialObjectMetadata
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &meta)
		now := n.read(meta, content)
		all = append(all, now.recorded())
		n.told.Insert(now.key())
		before := p.world.learn(now)
		if now.heard = true; before == nil || before.ResourceVersion != now.ResourceVersion {
			p.happened(n, happening{n.Step, "in a list", "", now})
		}
	}
	if items != nil {
		reply, _ := json.Marshal(map[string]any{"metadata": body["metadata"], "items": all})
		n.reply(reply)
	}
	p.say(n, "listed", "%d of %s", len(items), n.where())
	if isWhole {
		p.missing(n, text(body, "metadata", "resourceVersion"))
	}
}

// missing ends a complete list: it logs objects that were deleted while no watch was open.
func (p *Proxy) missing(n note, version string) {
	s := p.findings.stream(n)
	for key := range s.has.Difference(n.told) {
		o := p.world.known(n.resource, key)
		if o != nil && isOlder(version, o.ResourceVersion) {
			continue // It is newer than the list.
		}
		s.has.Delete(key)
		if o != nil {
			o.gone = true
			p.happened(n, happening{n.Step, "deleted", "", o})
			p.remark("deleted", "%s: while no watch was open", o)
		}
	}
	s.has = s.has.Union(n.told)
	for s.has.Len() > mostObjects {
		s.has.PopAny()
	}
	n.told = nil
}

func (p *Proxy) received(n note) {
	event, meta := watch.EventType(n.Step.Request.Event), wire.Metadata(n.body)
	n.Text = string(event)
	switch {
	case event == watch.Error:
		p.say(n, "refused", "watch of %s: %s", n.where(), n.status("message"))
		return
	case event == watch.Bookmark && meta.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		n.Object, _ = json.Marshal(meta)
		p.say(n, "listed", "%d of %s", len(n.told), n.where())
		p.missing(n, meta.ResourceVersion)
		return
	case event == watch.Bookmark || meta.Name == "":
		return
	}
	key := keyOf(meta.Namespace, meta.Name)
	if was := p.world.objects.of(n.resource + " " + key); was != nil && was.deleted && was.UID == meta.UID {
		n.Object = was.recorded()
		return // Another stream has delivered it.
	}
	now, before := p.world.see(n.exchange, meta, n.body)
	isListed := n.told != nil
	if has := p.findings.stream(n).has; isListed {
		n.told.Insert(key)
	} else if has.Len() < mostObjects {
		has.Insert(key)
	}
	p.about(n, now)
	n.Echo = p.world.isOwn(n, now)
	if event != watch.Deleted && now.heard {
		return // The program has received this version before.
	}
	now.heard = true
	h := happening{n.Step, "changed", "", now}
	if before == nil || before.by != now.by || before.at != now.at {
		h.by = now.by
	}
	switch {
	case event == watch.Deleted:
		now.gone, now.deleted = true, true
		p.findings.stream(n).has.Delete(key)
		h.what, h.by, before = "deleted", "", nil
		p.judgeRejected(now)
	case n.Echo && event != watch.Added:
	case n.Echo || before == nil || before.UID != now.UID:
		h.what, before = "added", nil
	case before.ResourceVersion == now.ResourceVersion:
		return
	}
	p.happened(n, h)
	if n.Echo || isListed && h.what == "added" {
		return // The response shows the change, and the end of a list shows the count.
	}
	line := now.String() + colon(describe(changes(before, now)))
	if h.by != "" {
		line += " (by " + h.by + ")"
	}
	p.say(n, h.what, "%s", line)
}

// about sets the object of a step, and its topmost owner.
func (p *Proxy) about(n note, o *object) {
	n.Kind, n.Key, n.Version, n.Object = o.Kind, o.key(), o.ResourceVersion, o.recorded()
	n.For = p.world.root(o)
}

func (p *Proxy) happened(n note, h happening) {
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
	case n.code == 0:
		w.failed = "no answer"
	case n.code == http.StatusNotFound && n.Method == http.MethodDelete: // The object is gone, as requested.
		w.now.gone = true
	case n.code >= http.StatusBadRequest:
		w.failed, w.changed = fmt.Sprintf("%d %s", n.code, n.status("reason")), n.status("message")
	case n.Method == http.MethodDelete && !isObject:
		_ = n.status("")
		w.now.gone = true
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
