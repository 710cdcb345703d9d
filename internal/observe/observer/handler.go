package observer

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
	"example.com/byhand/internal/observe/trace"
)

// Informers records each change of these informers' stores, and then calls the handler that
// the informer has. The keys which that adds before it returns go into their queue with the
// change as their cause. kinds has the kind of each informer. Call it before they run.
func (o *Observer) Informers(kinds []Kind, informers ...*informer.Informer) {
	for _, i := range informers {
		of := slices.IndexFunc(kinds, func(k Kind) bool { return k.groupResource() == i.Resource })
		if of < 0 {
			panic("observer: nothing is known of the kind of the informer of " + i.Resource)
		}
		i.Handler.ResourceEventHandler = o.handler(kinds[of], i.Handler.ResourceEventHandler)
	}
}

func (o *Observer) handler(k Kind, next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return &handler{observer: o, kind: o.wire(k), next: next}
}

// handler is called by an informer, and calls the next one. If every step is recorded, one
// handler at a time runs, so an observed queue knows which event a key is added for.
type handler struct {
	observer *Observer
	kind     *wired
	next     cache.ResourceEventHandler

	step   *trace.Step
	finish func(*trace.Step)
	why    cause
}

// OnAdd is called for an object that is new in the store.
func (h *handler) OnAdd(obj any, isInInitialList bool) {
	h.event(&event{what: trace.Added, initial: isInInitialList}, nil, obj, func() { h.next.OnAdd(obj, isInInitialList) })
}

// OnUpdate is called for an object that has changed, for each one at a resync, which is the
// object of the store itself, and for each one of a relist.
func (h *handler) OnUpdate(before, after any) {
	what := trace.Updated
	switch {
	case before == after:
		what = trace.Resync
	case metaOf(before).GetResourceVersion() == metaOf(after).GetResourceVersion():
		what = trace.Relisted
	}
	h.event(&event{what: what}, before, after, func() { h.next.OnUpdate(before, after) })
}

// OnDelete is called for an object that is gone, or the record that it is.
func (h *handler) OnDelete(obj any) {
	e, last := &event{what: trace.Deleted}, obj
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		e, last = &event{what: trace.Tombstone, key: tombstone.Key}, tombstone.Obj
	}
	h.event(e, nil, last, func() { h.next.OnDelete(obj) })
}

// metaOf returns the metadata of an object, which is empty for any other value.
func metaOf(object any) metav1.Object {
	if of, err := meta.Accessor(object); err == nil {
		return of
	}
	return &metav1.ObjectMeta{}
}

// event records an event and calls the next handler. If the object has no owner, only the key
// that is added shows which reconcile it leads to. Objects of a store are never changed, so the
// step may be finished later.
func (h *handler) event(e *event, before, object any, next func()) {
	if h.observer.all {
		h.observer.handling.Lock()
		defer h.observer.handling.Unlock()
		h.observer.handles.Store(h)
		defer h.observer.handles.Store(nil)
	}
	of := metaOf(object)
	if e.kind, e.id = h.kind.GVK.Kind, of.GetResourceVersion(); e.key == "" {
		e.key = keyOf(of.GetNamespace(), of.GetName())
	}
	h.step = &trace.Step{Part: trace.PartStore, What: e.what, Kind: e.kind, Key: e.key, For: h.observer.belongs(h.kind, of), Version: e.id}
	if e.what == trace.Deleted || e.what == trace.Tombstone {
		e.id = string(of.GetUID())
	}
	h.finish = func(step *trace.Step) { h.observer.finishEvent(h.kind, e, step, before, object) }
	h.why = cause{event: e}
	if h.step.For != "" {
		h.record("")
	}
	next()
	h.record("")
	// The object is not needed any more.
	h.step, h.finish, h.why = nil, nil, cause{}
}

// record records the event unless that has been done.
func (h *handler) record(belongs string) {
	if h.why.seq == 0 {
		h.step.For = cmp.Or(h.step.For, belongs)
		h.why.seq = h.observer.record(h.step, nil, h.finish)
	}
}

// finishEvent adds the object's summary and the cause of the event.
func (o *Observer) finishEvent(k *wired, e *event, step *trace.Step, before, object any) {
	text, shown := o.describe(k, object)
	if shown {
		step.Log = o.wordOf(k, e, before, text)
	}
	step.Text = cut(text, wordsLimit)
	if e.what == trace.Deleted || e.what == trace.Tombstone {
		step.Text = "it is gone"
	}
	if !o.all {
		return
	}
	step.File, step.Func = k.place.file, k.place.function
	step.Object = o.render(k, open(object), objectLimit)
	written := o.own.of(e.kind, e.id)
	switch {
	case e.initial:
		step.Cause, step.CauseSeq = "the first list", k.listed
	case e.what == trace.Tombstone:
		step.Cause, step.CauseSeq = "the list no longer has it", k.listed
	case e.what == trace.Relisted:
		step.Cause, step.CauseSeq = "a list in which it is the same", k.listed
	case e.what == trace.Resync:
		step.Cause = "the resync period"
	case written != 0:
		step.Cause, step.CauseSeq, step.Echo = "our own write", written, true
	default:
		step.CauseSeq = o.received.of(e.kind, step.Version)
	}
}
