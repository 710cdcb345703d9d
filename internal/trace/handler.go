package trace

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// Handler records each change of an informer's store and then calls the handler
// that next makes, whose keys go into to with that change as their cause. next may
// be nil; off, Handler returns next(to), or nil.
func (r *Recorder) Handler(kind string, to controller.Queue, next func(controller.Queue) cache.ResourceEventHandler) cache.ResourceEventHandler {
	switch {
	case r == nil && next == nil:
		return nil
	case r == nil:
		return next(to)
	}
	h := &handler{Queue: to, recorder: r, kind: kind, next: cache.ResourceEventHandlerFuncs{}}
	if next != nil {
		h.next = next(h)
	}
	return h
}

// handler stands on both sides of another one: an informer calls it, and it is the
// queue that the other one fills. An informer's handlers are called one after the
// other, so it knows which event a key is added for.
type handler struct {
	controller.Queue
	recorder *Recorder
	kind     string
	next     cache.ResourceEventHandler

	step Step
	why  cause
}

// OnAdd is called for an object that is new in the store.
func (h *handler) OnAdd(obj any, isInInitialList bool) {
	h.begin(Added, nil, obj)
	if h.why.initial = isInInitialList; isInInitialList {
		h.step.Cause, h.step.CauseSeq = "the first list", h.recorder.streams.listed(h.kind)
	}
	h.end(func() { h.next.OnAdd(obj, isInInitialList) })
}

// OnUpdate is called for an object that has changed, and for each one at a resync.
func (h *handler) OnUpdate(before, after any) {
	what := Updated
	if version(before) == version(after) {
		what = Resync
	}
	h.begin(what, before, after)
	h.end(func() { h.next.OnUpdate(before, after) })
}

// OnDelete is called for an object that is gone, or the record that it is.
func (h *handler) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		h.begin(Tombstone, nil, tombstone.Obj)
		h.step.Key, h.why.key = tombstone.Key, tombstone.Key
		h.step.Cause, h.step.CauseSeq = "a list in which it is missing", h.recorder.streams.listed(h.kind)
	} else {
		h.begin(Deleted, nil, obj)
	}
	h.end(func() { h.next.OnDelete(obj) })
}

// begin makes the step of an event. Every event has its echo looked up, but a
// resync: its version is an old one.
func (h *handler) begin(what string, before, object any) {
	key := ""
	if name, err := cache.ObjectToName(object); err == nil && object != nil {
		key = name.String()
	}
	r := h.recorder
	h.step = Step{Part: PartStore, What: what, Kind: h.kind, Key: key, Foo: fooOf(object), Version: version(object),
		Text: cut(describe(object), wordsLimit), Object: render(object, objectLimit)}.at("store " + h.kind)
	switch what {
	case Resync:
		h.step.Cause = "the resync period"
	case Deleted, Tombstone:
		h.step.Text = "it is gone"
		h.step.CauseSeq = r.writes.of(uidName(h.kind, key, uid(object)))
	default:
		h.step.CauseSeq = r.writes.causeOf(h.kind, key, before, object)
	}
	if h.step.CauseSeq != 0 {
		h.step.Echo, h.step.Cause = true, "our own write"
	} else if what != Resync {
		h.step.CauseSeq = r.streams.received(h.kind, key, h.step.Version)
	}
	h.why = cause{what: what, kind: h.kind, key: key, version: h.step.Version, echo: h.step.Echo}
}

// end records the event and calls the next handler. Whose Foo's it is may be known
// only from the key that is added for it.
func (h *handler) end(next func()) {
	if h.step.Foo != "" {
		h.record("")
	}
	next()
	h.record("")
	// Nobody needs the object any more.
	h.step = Step{}
}

// record records the event unless it is.
func (h *handler) record(foo string) {
	if h.why.seq != 0 {
		return
	}
	if h.step.Foo == "" {
		h.step.Foo = foo
	}
	h.why.seq = h.recorder.record(h.step)
}

// Add is called by the next handler.
func (h *handler) Add(key cache.ObjectName) {
	h.record(key.String())
	if traced, ok := h.Queue.(*queue); ok {
		traced.add(key, h.why)
		return
	}
	h.Queue.Add(key)
}

func version(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetResourceVersion()
}

func uid(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return string(accessor.GetUID())
}
