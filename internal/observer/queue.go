package observer

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/controller"
)

// Queue records what happens to the keys of a queue, which are those of a kind. Give the
// result to Handler and to the controller. A kind has one queue.
func (o *Observer) Queue(k Kind, next controller.PriorityQueue) controller.PriorityQueue {
	kind := o.wire(k)
	if kind.queued {
		panic(fmt.Sprintf("observer: a second queue of %s: their keys could not be told apart", k.Kind))
	}
	kind.queued = true
	if o.all {
		kind.queue = &queue{PriorityQueue: next, observer: o, kind: k.Kind, limiter: controller.RateLimiter(), keys: map[cache.ObjectName]*waiting{}}
		next = kind.queue
	}
	o.queues[next] = true
	return next
}

// queue is the real queue, and beside it a model of where each key is: the real one
// tells nobody. mu is held while both change, except for Get, which blocks.
type queue struct {
	controller.PriorityQueue
	observer *Observer
	kind     string
	// limiter computes the same delays as the queue's own.
	limiter workqueue.TypedRateLimiter[cache.ObjectName]

	mu    sync.Mutex
	keys  map[cache.ObjectName]*waiting
	depth int
}

// waiting is where a key is. A key that is nowhere has none.
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
	// delay is under way, or nil.
	delay *delay
}

func (q *queue) of(key cache.ObjectName) *waiting {
	if q.keys[key] == nil {
		q.keys[key] = &waiting{}
	}
	return q.keys[key]
}

// name is the kind and the key, as in Step.For.
func (q *queue) name(key cache.ObjectName) string { return q.kind + " " + key.String() }

// record records a step about a key. finish may be nil.
func (q *queue) record(part Part, what string, key cache.ObjectName, step Step, at *place, finish func(*Step)) int64 {
	step.Part, step.What, step.Kind, step.Key, step.For, step.Depth = part, what, q.kind, key.String(), q.name(key), q.depth
	return q.observer.record(&step, at, 0, finish)
}

// Add and AddLowPriority are for callers that give no cause.
func (q *queue) Add(key cache.ObjectName) { q.add(key, cause{}, "", q.PriorityQueue.Add) }
func (q *queue) AddLowPriority(key cache.ObjectName) {
	q.add(key, cause{}, behind, q.PriorityQueue.AddLowPriority)
}

// behind says where a key of low priority waits.
const behind = "behind every change"

// add records that a key is added, text says how, and adds it.
func (q *queue) add(key cache.ObjectName, why cause, text string, add func(cache.ObjectName)) {
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		q.mark(key, Added, text, why, at)
	}
	add(key)
}

// AddedAsTaken is the cause of a key that was added just when another worker took it.
// Which event added it cannot be told any more: the worker before it had that one, too.
const AddedAsTaken = "it was added just when a worker took it"

// mark notes that a key is added, and records it as what unless it was before.
func (q *queue) mark(key cache.ObjectName, what, text string, why cause, at *place) {
	k := q.of(key)
	switch {
	case k.waits && k.runs:
		what, text = Coalesced, "comes back when its worker is done, once"
	case k.waits:
		what, text = Coalesced, "waits already"
	case k.runs:
		what, text = Coalesced, "a worker has it: comes back when that is done"
	default:
		q.depth++
	}
	if !k.waits {
		k.waits, k.since = true, time.Now()
	}
	k.why.add(why)
	q.record(PartQueue, what, key, Step{Text: text, CauseSeq: why.seq}, at, func(step *Step) { step.Cause = why.words(q.observer) })
}

// Get is how a worker takes a key.
func (q *queue) Get() (cache.ObjectName, bool) {
	key, shutdown := q.PriorityQueue.Get()
	if shutdown {
		return key, shutdown
	}
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.of(key)
	if !k.waits {
		// The queue's own timer was first, or the key was added just when another
		// worker took it.
		if k.delay != nil {
			q.over(key, k)
		} else {
			q.mark(key, Added, "", cause{text: AddedAsTaken}, at)
		}
	}
	now := time.Now()
	waited := now.Sub(k.since)
	k.waits, k.runs, k.taken, k.reconciled = false, true, now, 0
	k.now, k.why = k.why, causes{}
	q.depth--
	why := k.now
	q.record(PartWorker, Got, key, Step{Took: waited, CauseSeq: why.seq()}, at, func(step *Step) {
		step.Text, step.Cause = "waited "+short(waited), why.words(q.observer)
	})
	return key, false
}

// Done is how a worker gives a key back.
func (q *queue) Done(key cache.ObjectName) {
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	k, now := q.of(key), time.Now()
	k.runs = false
	text := "nothing waits for it"
	if k.waits {
		text = "back into the queue"
		k.since = now
		q.depth++
	} else if k.delay != nil {
		text = "until its delay is over"
	} else {
		delete(q.keys, key)
	}
	q.record(PartWorker, Done, key, Step{Text: text, Took: now.Sub(k.taken), CauseSeq: k.reconciled}, at, nil)
	q.PriorityQueue.Done(key)
}

// ShutDown drops the delays, as the queue does.
func (q *queue) ShutDown() {
	q.mu.Lock()
	for _, k := range q.keys {
		if k.delay != nil {
			k.delay.timer.Stop()
		}
	}
	q.mu.Unlock()
	q.PriorityQueue.ShutDown()
}

// woken returns why a worker has a key.
func (q *queue) woken(key cache.ObjectName) causes {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.keys[key]
	if k == nil || !k.runs {
		panic(fmt.Sprintf("observer: the observed queue has not handed out %s: give the controller the result of Observer.Queue", q.name(key)))
	}
	return k.now
}

// reconciled notes the last step of a reconcile, for what follows from it.
func (q *queue) reconciled(key cache.ObjectName, seq int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.keys[key]; k != nil {
		k.reconciled = seq
	}
}
