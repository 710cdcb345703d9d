package trace

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/controller"
)

// Queue records what happens to the keys of a queue. Give the result to Handler and
// to the controller. One Recorder has one queue.
func (r *Recorder) Queue(next controller.Queue) controller.Queue {
	if r == nil {
		return next
	}
	r.queue = &queue{Queue: next, recorder: r, limiter: controller.RateLimiter(), keys: map[cache.ObjectName]*waiting{}}
	return r.queue
}

// queue is the real queue, and beside it a model of where each key is: the real one
// tells nobody. mu is held while both change, except for Get, which blocks.
type queue struct {
	controller.Queue
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

func (q *queue) record(part Part, what string, key cache.ObjectName, step Step) int64 {
	step.Part, step.What, step.Kind, step.Key, step.Foo, step.Depth = part, what, "Foo", key.String(), key.String(), q.depth
	if step.File == "" {
		step = step.at(string(part))
	}
	return q.recorder.record(step)
}

// Add is for callers that give no cause.
func (q *queue) Add(key cache.ObjectName) { q.add(key, cause{}) }

func (q *queue) add(key cache.ObjectName, why cause) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		q.mark(key, Added, why)
	}
	q.Queue.Add(key)
}

// mark notes that a key is added, and records it as what unless it was before.
func (q *queue) mark(key cache.ObjectName, what string, why cause) {
	k := q.of(key)
	text := ""
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
	step := Step{Text: text, Cause: why.words(q.recorder), CauseSeq: why.seq}
	if why.kind != "" {
		step = step.at("queue " + why.kind)
	}
	q.record(PartQueue, what, key, step)
}

// AddAfter is how the controller looks again.
func (q *queue) AddAfter(key cache.ObjectName, delay time.Duration) {
	if delay <= 0 {
		q.Add(key)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		q.wait(key, Delayed, delay, fmt.Sprintf("look again in %s", delay))
	}
	q.Queue.AddAfter(key, delay)
}

// AddRateLimited is how the controller tries again.
func (q *queue) AddRateLimited(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		delay := q.limiter.When(key)
		q.wait(key, Limited, delay, fmt.Sprintf("try %d again in %s", q.limiter.NumRequeues(key), short(delay)))
	}
	q.Queue.AddRateLimited(key)
}

// wait notes a delay. Of two for one key the one that ends first counts.
func (q *queue) wait(key cache.ObjectName, what string, delay time.Duration, text string) {
	k, due := q.of(key), time.Now().Add(delay)
	step := Step{Text: text, CauseSeq: k.reconciled, Took: delay}
	if !k.due.IsZero() && !due.Before(k.due) {
		step.Text += ", an earlier look stands"
		q.record(PartQueue, what, key, step.at("queue retry"))
		return
	}
	place := "queue retry"
	if what == Limited {
		place = "queue limited"
	}
	if k.timer != nil {
		k.timer.Stop()
	}
	k.due = due
	k.delay = cause{text: "the delay is over: " + text, seq: q.record(PartQueue, what, key, step.at(place))}
	k.timer = time.AfterFunc(delay, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if k := q.keys[key]; k != nil && k.due.Equal(due) && !q.ShuttingDown() {
			q.over(key, k)
		}
	})
}

// over notes that a delay is over, which has put the key into the queue.
func (q *queue) over(key cache.ObjectName, k *waiting) {
	k.timer.Stop()
	k.due = time.Time{}
	q.mark(key, Due, k.delay)
}

// Get is how a worker takes a key.
func (q *queue) Get() (cache.ObjectName, bool) {
	key, shutdown := q.Queue.Get()
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
			q.mark(key, Added, cause{text: "it was added just when a worker took it"})
		}
	}
	now := time.Now()
	waited := now.Sub(k.since)
	k.waits, k.runs, k.taken, k.reconciled = false, true, now, 0
	k.now, k.why = k.why, causes{}
	q.depth--
	q.record(PartWorker, Got, key, Step{Text: "waited " + short(waited), Took: waited, Cause: k.now.words(q.recorder), CauseSeq: k.now.seq()})
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
	q.record(PartWorker, Done, key, Step{Text: text, Took: now.Sub(k.taken), CauseSeq: k.reconciled})
	q.Queue.Done(key)
}

// Forget ends the count of a key's failures.
func (q *queue) Forget(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if failures := q.limiter.NumRequeues(key); failures > 0 {
		q.record(PartQueue, Forgot, key, Step{Text: fmt.Sprintf("its %d failures no longer count", failures)}.at("queue retry"))
	}
	q.limiter.Forget(key)
	q.Queue.Forget(key)
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
	q.Queue.ShutDown()
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

// short is a duration as people read it.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}
