package observer

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
)

// AddAfter is how the controller looks again.
func (q *queue) AddAfter(key cache.ObjectName, delay time.Duration) {
	if delay <= 0 {
		q.Add(key)
		return
	}
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		q.wait(key, at, Delayed, delay, fmt.Sprintf("look again in %s", delay))
	}
	q.PriorityQueue.AddAfter(key, delay)
}

// AddRateLimited is how the controller tries again.
func (q *queue) AddRateLimited(key cache.ObjectName) {
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		delay := q.limiter.When(key)
		q.wait(key, at, Limited, delay, fmt.Sprintf("try %d again in %s", q.limiter.NumRequeues(key), short(delay)))
	}
	q.PriorityQueue.AddRateLimited(key)
}

// delay is how long a key waits before it is added.
type delay struct {
	due   time.Time
	timer *time.Timer
	why   cause
	at    *place // where it was asked for
}

// wait notes a delay. If a key has two, the earlier end counts.
func (q *queue) wait(key cache.ObjectName, at *place, what string, after time.Duration, text string) {
	k, due := q.of(key), time.Now().Add(after)
	step := Step{Text: text, CauseSeq: k.reconciled, Took: after}
	if k.delay != nil && !due.Before(k.delay.due) {
		step.Text += ", an earlier look stands"
		q.record(PartQueue, what, key, step, at, nil)
		return
	}
	if k.delay != nil {
		k.delay.timer.Stop()
	}
	d := &delay{due: due, at: at, why: cause{text: "the delay is over: " + text, seq: q.record(PartQueue, what, key, step, at, nil)}}
	k.delay = d
	d.timer = time.AfterFunc(after, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if k := q.keys[key]; k != nil && k.delay == d && !q.ShuttingDown() {
			q.over(key, k)
		}
	})
}

// over notes that a delay is over, which has put the key into the queue.
func (q *queue) over(key cache.ObjectName, k *waiting) {
	d := k.delay
	d.timer.Stop()
	k.delay = nil
	q.mark(key, Due, "", d.why, d.at)
}

// Forget ends the count of a key's failures.
func (q *queue) Forget(key cache.ObjectName) {
	at := q.observer.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	if failures := q.limiter.NumRequeues(key); failures > 0 {
		q.record(PartQueue, Forgot, key, Step{Text: fmt.Sprintf("its %d failures no longer count", failures)}, at, nil)
	}
	q.limiter.Forget(key)
	q.PriorityQueue.Forget(key)
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
