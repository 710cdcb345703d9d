package observer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// Handler returns the handler for the informer of a kind. It records each change of the
// store and then calls the handler that newHandler makes. The keys which that adds before
// it returns go into queue with the change as their cause. queue is one that Queue has
// returned. If newHandler is nil, changes are recorded and nothing else.
func (o *Observer) Handler(k Kind, queue controller.PriorityQueue, newHandler func(controller.PriorityQueue) cache.ResourceEventHandler) cache.ResourceEventHandler {
	h := &handler{PriorityQueue: queue, observer: o, kind: o.wire(k), next: cache.ResourceEventHandlerFuncs{}}
	if h.kind.handled {
		panic(fmt.Sprintf("observer: a second handler of %s: their events could not be told apart", k.Kind))
	}
	h.kind.handled = true
	if newHandler != nil {
		o.mustBeQueue(k, queue)
		h.next = newHandler(h)
	}
	return h
}

// handler stands on both sides of another one: an informer calls it, and it is the
// queue that the other one fills. An informer's handlers are called one after the
// other, so it knows which event a key is added for.
type handler struct {
	controller.PriorityQueue
	observer *Observer
	kind     *wired
	next     cache.ResourceEventHandler

	step   *Step
	finish func(*Step)
	why    cause
}

// OnAdd is called for an object that is new in the store.
func (h *handler) OnAdd(obj any, isInInitialList bool) {
	h.begin(Added, nil, obj, "")
	h.why.event.initial = isInInitialList
	h.end(func() { h.next.OnAdd(obj, isInInitialList) })
}

// OnUpdate is called for an object that has changed, and for each one at a resync.
func (h *handler) OnUpdate(before, after any) {
	what := Updated
	if version(before) == version(after) {
		what = Resync
	}
	h.begin(what, before, after, "")
	h.end(func() { h.next.OnUpdate(before, after) })
}

// OnDelete is called for an object that is gone, or the record that it is.
func (h *handler) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		h.begin(Tombstone, nil, tombstone.Obj, tombstone.Key)
	} else {
		h.begin(Deleted, nil, obj, "")
	}
	h.end(func() { h.next.OnDelete(obj) })
}

// begin makes the step of an event. Objects of a store are never changed, so the
// step may be finished later.
func (h *handler) begin(what string, before, object any, key string) {
	h.step = &Step{Part: PartStore, What: what, Kind: h.kind.Kind.Kind, Version: version(object)}
	if meta, ok := object.(metav1.Object); ok {
		key, h.step.For = cache.MetaObjectToName(meta).String(), h.observer.belongs(h.kind, meta)
	}
	h.step.Key = key
	e := &event{what: what, kind: h.kind.Kind.Kind, key: key, version: h.step.Version}
	h.finish = func(step *Step) { h.observer.finishEvent(h.kind, e, step, before, object) }
	h.why = cause{event: e}
}

// finishEvent says what the object is like now, and what led to the event. Every
// event has its echo looked up, but a resync: its version is an old one.
func (o *Observer) finishEvent(k *wired, e *event, step *Step, before, object any) {
	text, shown := o.describe(k, object)
	if shown {
		step.Story = o.storyOf(k, e, before, text)
	}
	step.Text = cut(text, wordsLimit)
	if e.what == Deleted || e.what == Tombstone {
		step.Text = "it is gone"
	}
	if !o.all {
		return
	}
	step.File, step.Func = k.place.file, k.place.function
	step.Object = o.render(k, open(object), objectLimit)
	written := int64(0)
	switch e.what {
	case Resync:
	case Deleted, Tombstone:
		written = o.writes.of(uidName(e.kind, e.key, uid(object)))
	default:
		written = o.writes.causeOf(e.kind, e.key, before, object)
	}
	e.echo = written != 0
	step.Echo = e.echo
	switch {
	case e.initial:
		step.Cause, step.CauseSeq = "the first list", k.listed
	case e.what == Tombstone:
		step.Cause, step.CauseSeq = "a list in which it is missing", k.listed
	case e.what == Resync:
		step.Cause = "the resync period"
	case e.echo:
		step.Cause, step.CauseSeq = "our own write", written
	default:
		step.CauseSeq = o.received.of(versionName(e.kind, e.key, e.version))
	}
}

// end records the event and calls the next handler. To whom it leads may be known only
// from the key that is added for it.
func (h *handler) end(next func()) {
	if h.step.For != "" {
		h.record("")
	}
	next()
	h.record("")
	// Nobody needs the object any more.
	h.step, h.finish, h.why = nil, nil, cause{}
}

// record records the event unless that has been done.
func (h *handler) record(belongs string) {
	if h.step != nil && h.why.seq == 0 {
		if h.step.For == "" {
			h.step.For = belongs
		}
		h.why.seq = h.observer.record(h.step, nil, 0, h.finish)
	}
}

// Add is called by the next handler.
func (h *handler) Add(key cache.ObjectName) {
	if queue, ok := h.PriorityQueue.(*queue); ok {
		h.record(queue.name(key))
		queue.add(key, h.why, "", queue.PriorityQueue.Add)
		return
	}
	h.PriorityQueue.Add(key)
}

// AddLowPriority is called by the next handler, too.
func (h *handler) AddLowPriority(key cache.ObjectName) {
	if queue, ok := h.PriorityQueue.(*queue); ok {
		h.record(queue.name(key))
		queue.add(key, h.why, behind, queue.PriorityQueue.AddLowPriority)
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

func uid(object any) types.UID {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetUID()
}
