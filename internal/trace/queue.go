package trace

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/controller"
)

// Queue records what happens to the keys of a queue. Give the result to Handler and
// to the controller. One Recorder has one queue.
func (r *Recorder) Queue(next controller.PriorityQueue) controller.PriorityQueue {
	if r == nil {
		return next
	}
	r.queue = &queue{PriorityQueue: next, recorder: r, limiter: controller.RateLimiter(), keys: map[cache.ObjectName]*waiting{}}
	return r.queue
}

// queue is the real queue, and beside it a model of where each key is: the real one
// tells nobody. mu is held while both change, except for Get, which blocks.
type queue struct {
	controller.PriorityQueue
	recorder *Recorder
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
	// due is when a delay ends, and because what it began.
	due   time.Time
	timer *time.Timer
	delay cause
}

func (q *queue) of(key cache.ObjectName) *waiting {
	if q.keys[key] == nil {
		q.keys[key] = &waiting{}
	}
	return q.keys[key]
}

// record records a step about a key, whose code stands at place. finish may be nil.
func (q *queue) record(part Part, what, place string, key cache.ObjectName, step Step, finish func(*Step)) int64 {
	step.Part, step.What, step.Kind, step.Key, step.Depth = part, what, "Foo", key.String(), q.depth
	step.Foo = step.Key
	return q.recorder.later(step.at(place), 0, finish)
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
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		q.mark(key, Added, text, why)
	}
	add(key)
}

// AddedAsTaken is the cause of a key that was added just when another worker took it.
// Which event added it cannot be told any more: the worker before it had that one, too.
const AddedAsTaken = "it was added just when a worker took it"

// mark notes that a key is added, and records it as what unless it was before.
func (q *queue) mark(key cache.ObjectName, what, text string, why cause) {
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
	q.record(PartQueue, what, "queue", key, Step{Text: text, CauseSeq: why.seq}, func(step *Step) {
		step.Cause = why.words(q.recorder)
		if why.event != nil {
			*step = step.at("queue " + why.event.kind)
		}
	})
}

// Get is how a worker takes a key.
func (q *queue) Get() (cache.ObjectName, bool) {
	key, shutdown := q.PriorityQueue.Get()
	if shutdown {
		return key, shutdown
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.of(key)
	if !k.waits {
		// The queue's own timer was first, or the key was added just when another
		// worker took it.
		if !k.due.IsZero() {
			q.over(key, k)
		} else {
			q.mark(key, Added, "", cause{text: AddedAsTaken})
		}
	}
	now := time.Now()
	waited := now.Sub(k.since)
	k.waits, k.runs, k.taken, k.reconciled = false, true, now, 0
	k.now, k.why = k.why, causes{}
	q.depth--
	why := k.now
	q.record(PartWorker, Got, "worker", key, Step{Took: waited, CauseSeq: why.seq()}, func(step *Step) {
		step.Text, step.Cause = "waited "+short(waited), why.words(q.recorder)
	})
	return key, false
}

// Done is how a worker gives a key back.
func (q *queue) Done(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k, now := q.of(key), time.Now()
	k.runs = false
	text := "nothing waits for it"
	if k.waits {
		text = "back into the queue"
		k.since = now
		q.depth++
	} else if !k.due.IsZero() {
		text = "until its delay is over"
	} else {
		delete(q.keys, key)
	}
	q.record(PartWorker, Done, "worker", key, Step{Text: text, Took: now.Sub(k.taken), CauseSeq: k.reconciled}, nil)
	q.PriorityQueue.Done(key)
}

// ShutDown drops the delays, as the queue does.
func (q *queue) ShutDown() {
	q.mu.Lock()
	for _, k := range q.keys {
		if k.timer != nil {
			k.timer.Stop()
		}
	}
	q.mu.Unlock()
	q.PriorityQueue.ShutDown()
}

// woken returns why a worker has a key.
func (q *queue) woken(key cache.ObjectName) causes {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.keys[key]; k != nil {
		return k.now
	}
	return causes{}
}

// reconciled notes the last step of a reconcile, for what follows from it.
func (q *queue) reconciled(key cache.ObjectName, seq int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.keys[key]; k != nil {
		k.reconciled = seq
	}
}
