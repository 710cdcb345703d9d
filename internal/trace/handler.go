package trace

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// Handler records each change of an informer's store and then calls the handler
// that next makes, whose keys go into to with that change as their cause. next may
// be nil; off, Handler returns next(to), or nil.
func (r *Recorder) Handler(kind string, to controller.PriorityQueue, next func(controller.PriorityQueue) cache.ResourceEventHandler) cache.ResourceEventHandler {
	switch {
	case r == nil && next == nil:
		return nil
	case r == nil:
		return next(to)
	}
	h := &handler{PriorityQueue: to, recorder: r, kind: kind, next: cache.ResourceEventHandlerFuncs{}}
	if next != nil {
		h.next = next(h)
	}
	return h
}

// handler stands on both sides of another one: an informer calls it, and it is the
// queue that the other one fills. An informer's handlers are called one after the
// other, so it knows which event a key is added for.
type handler struct {
	controller.PriorityQueue
	recorder *Recorder
	kind     string
	next     cache.ResourceEventHandler

	step   Step
	finish func(*Step)
	why    cause
}

// OnAdd is called for an object that is new in the store.
func (h *handler) OnAdd(obj any, isInInitialList bool) {
	h.begin(Added, nil, obj)
	h.why.event.initial = isInInitialList
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
		h.step.Key, h.why.event.key = tombstone.Key, tombstone.Key
	} else {
		h.begin(Deleted, nil, obj)
	}
	h.end(func() { h.next.OnDelete(obj) })
}

// begin makes the step of an event. Objects of a store are never changed, so the
// step may be finished later.
func (h *handler) begin(what string, before, object any) {
	key := ""
	if name, err := cache.ObjectToName(object); err == nil && object != nil {
		key = name.String()
	}
	e := &event{what: what, kind: h.kind, key: key, version: version(object)}
	h.step = Step{Part: PartStore, What: what, Kind: h.kind, Key: key, Foo: fooOf(object), Version: e.version}
	h.finish = func(step *Step) { h.recorder.finishEvent(e, step, before, object) }
	h.why = cause{event: e}
}

// finishEvent says what the object is like now, and what led to the event. Every
// event has its echo looked up, but a resync: its version is an old one.
func (r *Recorder) finishEvent(e *event, step *Step, before, object any) {
	*step = step.at("store " + e.kind)
	step.Text, step.Object = cut(describe(object), wordsLimit), render(object, objectLimit)
	written := int64(0)
	switch e.what {
	case Resync:
	case Deleted, Tombstone:
		step.Text = "it is gone"
		written = r.writes.of(uidName(e.kind, e.key, uid(object)))
	default:
		written = r.writes.causeOf(e.kind, e.key, before, object)
	}
	e.echo = written != 0
	step.Echo = e.echo
	switch {
	case e.initial:
		step.Cause, step.CauseSeq = "the first list", r.streams.lists[e.kind]
	case e.what == Tombstone:
		step.Cause, step.CauseSeq = "a list in which it is missing", r.streams.lists[e.kind]
	case e.what == Resync:
		step.Cause = "the resync period"
	case e.echo:
		step.Cause, step.CauseSeq = "our own write", written
	default:
		step.CauseSeq = r.streams.received(e.kind, e.key, e.version)
	}
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
	h.step, h.finish, h.why = Step{}, nil, cause{}
}

// record records the event unless it is.
func (h *handler) record(foo string) {
	if h.why.seq != 0 {
		return
	}
	if h.step.Foo == "" {
		h.step.Foo = foo
	}
	h.why.seq = h.recorder.later(h.step, 0, h.finish)
}

// Add is called by the next handler.
func (h *handler) Add(key cache.ObjectName) {
	h.record(key.String())
	if traced, ok := h.PriorityQueue.(*queue); ok {
		traced.add(key, h.why, "", traced.PriorityQueue.Add)
		return
	}
	h.PriorityQueue.Add(key)
}

// AddLowPriority is called by the next handler, too.
func (h *handler) AddLowPriority(key cache.ObjectName) {
	h.record(key.String())
	if traced, ok := h.PriorityQueue.(*queue); ok {
		traced.add(key, h.why, behind, traced.PriorityQueue.AddLowPriority)
		return
	}
	h.PriorityQueue.AddLowPriority(key)
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
