package observer

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/controller"
	"example.com/byhand/internal/observe/trace"
)

// Queue records the operations on the queue of a kind. Pass the result to the handlers and to the
// controller. A kind has one queue.
func (o *Observer) Queue(k Kind, next controller.Queue) controller.Queue {
	kind := o.wire(k)
	kind.isReconciled = true
	if o.all {
		kind.queue = &observedQueue{Queue: next, observer: o, kind: k.GVK.Kind, limiter: controller.RateLimiter(), keys: map[cache.ObjectName]*waiting{}}
		next = kind.queue
	}
	return next
}

// observedQueue is the real queue and a model of each key's state, which the real queue does not
// report. mu is held while both change, except in Get, which blocks.
type observedQueue struct {
	controller.Queue
	observer *Observer
	kind     string
	// limiter computes the same delays as the queue's own.
	limiter workqueue.TypedRateLimiter[cache.ObjectName]

	mu    sync.Mutex
	keys  map[cache.ObjectName]*waiting
	depth int
}

// waiting is the state of a key. An unknown key has no state.
type waiting struct {
	// waits says that the key is in the queue, or comes back when its worker is done,
	// since when and why.
	waits bool
	since time.Time
	why   causes
	// runs says that a worker has the key, since when and why; reconciled is its
	// last step.
	runs       bool
	taken      time.Time
	now        causes
	reconciled int64
	// due is when a delay ends that is under way, zero for none, and delay is its step, in
	// the same words. backsOff says that no event enqueues the key before.
	due      time.Time
	delay    cause
	backsOff bool
}

func (q *observedQueue) of(key cache.ObjectName) *waiting {
	if q.keys[key] == nil {
		q.keys[key] = &waiting{}
	}
	return q.keys[key]
}

// name is the kind and the key, as in Step.For.
func (q *observedQueue) name(key cache.ObjectName) string { return q.kind + " " + key.String() }

// record records a step about a key. finish may be nil.
func (q *observedQueue) record(part trace.Part, what string, key cache.ObjectName, step trace.Step, at *place, finish func(*trace.Step)) int64 {
	step.Part, step.What, step.Kind, step.Key, step.For, step.Depth = part, what, q.kind, key.String(), q.name(key), q.depth
	return q.observer.record(&step, at, finish)
}

// Add and AddLowPriority are how a handler adds a key.
func (q *observedQueue) Add(key cache.ObjectName) {
	why := q.event(key)
	q.change(func(at *place) { q.mark(key, trace.Added, "", why, at) }, func() { q.Queue.Add(key) })
}

func (q *observedQueue) AddLowPriority(key cache.ObjectName) {
	why := q.event(key)
	q.change(func(at *place) { q.mark(key, trace.Added, "low priority", why, at) }, func() { q.Queue.AddLowPriority(key) })
}

// event returns, and records, the event for which a handler adds a key.
func (q *observedQueue) event(key cache.ObjectName) cause {
	h := q.observer.handles.Load()
	if h == nil {
		return cause{}
	}
	h.record(q.name(key))
	return h.why
}

// AddAfter is how the controller looks again.
func (q *observedQueue) AddAfter(key cache.ObjectName, delay time.Duration) {
	q.change(func(at *place) { q.wait(key, at, trace.Delayed, delay, fmt.Sprintf("look again in %s", delay)) },
		func() { q.Queue.AddAfter(key, delay) })
}

// AddRateLimited is how the controller tries again.
func (q *observedQueue) AddRateLimited(key cache.ObjectName) {
	q.change(func(at *place) {
		delay, k := q.limiter.When(key), q.of(key)
		k.waits, k.due, k.backsOff = false, time.Time{}, true
		q.wait(key, at, trace.Limited, delay, fmt.Sprintf("try %d again in %s", q.limiter.NumRequeues(key), short(delay)))
	}, func() { q.Queue.AddRateLimited(key) })
}

// change changes the model, unless the queue takes no keys any more, and the queue.
func (q *observedQueue) change(model func(at *place), real func()) {
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		model(at)
	}
	real()
}

// mark notes that a key is added, and records it as what unless it was before.
func (q *observedQueue) mark(key cache.ObjectName, what, text string, why cause, at *place) {
	k := q.of(key)
	switch {
	case k.backsOff:
		what, text = trace.Coalesced, "backs off: comes back after that"
	case k.runs:
		what, text = trace.Coalesced, "a worker has it: comes back when that is done"
	case k.waits:
		what, text = trace.Coalesced, "waits already"
	default:
		q.depth++
	}
	if !k.waits && !k.backsOff {
		k.waits, k.since = true, time.Now()
	}
	k.why.add(why)
	q.record(trace.PartQueue, what, key, trace.Step{Text: text, CauseSeq: why.seq}, at, func(step *trace.Step) { step.Cause = why.words(q.observer) })
}

// wait notes a delay. If a key has two, the earlier end counts.
func (q *observedQueue) wait(key cache.ObjectName, at *place, what string, delay time.Duration, text string) {
	k, due := q.of(key), time.Now().Add(delay)
	step := trace.Step{Text: text, CauseSeq: k.reconciled, Took: delay}
	if !k.due.IsZero() && !due.Before(k.due) {
		step.Text += ", an earlier look stands"
		q.record(trace.PartQueue, what, key, step, at, nil)
		return
	}
	k.due, k.delay = due, cause{text: text, seq: q.record(trace.PartQueue, what, key, step, at, nil)}
}

// settle records the end of a delay. The queue does not report it at that time, so it is recorded when
// a worker takes the key or gives it back.
func (q *observedQueue) settle(key cache.ObjectName, k *waiting, at *place) {
	if due := k.due; !due.IsZero() && !time.Now().Before(due) {
		k.due, k.backsOff = time.Time{}, false
		added := !k.waits
		q.mark(key, trace.Due, "", cause{text: "the delay is over", seq: k.delay.seq}, at)
		if added {
			k.since = due
		}
	}
}

// Get is how a worker takes a key.
func (q *observedQueue) Get() (cache.ObjectName, bool) {
	key, shutdown := q.Queue.Get()
	if shutdown {
		return key, shutdown
	}
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.of(key)
	q.settle(key, k, at)
	if !k.waits {
		q.mark(key, trace.Added, "", cause{}, at) // It was added just when another worker took it.
	}
	now := time.Now()
	waited, why := now.Sub(k.since), k.why
	k.waits, k.runs, k.taken, k.reconciled, k.now, k.why = false, true, now, 0, why, nil
	q.depth--
	q.record(trace.PartWorker, trace.Got, key, trace.Step{Took: waited, CauseSeq: why.seq()}, at, func(step *trace.Step) {
		step.Text, step.Cause = "waited "+short(waited), why.words(q.observer)
	})
	return key, false
}

// Done is how a worker gives a key back.
func (q *observedQueue) Done(key cache.ObjectName) {
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	k, now := q.of(key), time.Now()
	q.settle(key, k, at)
	k.runs = false
	text := "nothing waits for it"
	switch {
	case k.waits:
		text = "back into the queue"
		k.since = now
		q.depth++
	case !k.due.IsZero():
		text = "still to come: " + k.delay.text
	default:
		delete(q.keys, key)
	}
	q.record(trace.PartWorker, trace.Done, key, trace.Step{Text: text, Took: now.Sub(k.taken), CauseSeq: k.reconciled}, at, nil)
	q.Queue.Done(key)
}

// Forget ends the count of a key's failures.
func (q *observedQueue) Forget(key cache.ObjectName) {
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	if failures := q.limiter.NumRequeues(key); failures > 0 {
		q.record(trace.PartQueue, trace.Forgot, key, trace.Step{Text: fmt.Sprintf("its %d failures no longer count", failures)}, at, nil)
	}
	if k := q.keys[key]; k != nil {
		k.backsOff = false
	}
	q.limiter.Forget(key)
	q.Queue.Forget(key)
}

// running returns where a key is that a worker has.
func (q *observedQueue) running(key cache.ObjectName) *waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.keys[key]
}

// short is a duration as people read it.
func short(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
