package trace

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
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		q.wait(key, Delayed, delay, fmt.Sprintf("look again in %s", delay))
	}
	q.PriorityQueue.AddAfter(key, delay)
}

// AddRateLimited is how the controller tries again.
func (q *queue) AddRateLimited(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ShuttingDown() {
		delay := q.limiter.When(key)
		q.wait(key, Limited, delay, fmt.Sprintf("try %d again in %s", q.limiter.NumRequeues(key), short(delay)))
	}
	q.PriorityQueue.AddRateLimited(key)
}

// wait notes a delay. Of two for one key the one that ends first counts.
func (q *queue) wait(key cache.ObjectName, what string, delay time.Duration, text string) {
	k, due := q.of(key), time.Now().Add(delay)
	step := Step{Text: text, CauseSeq: k.reconciled, Took: delay}
	if !k.due.IsZero() && !due.Before(k.due) {
		step.Text += ", an earlier look stands"
		q.record(PartQueue, what, "queue retry", key, step, nil)
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
	k.delay = cause{text: "the delay is over: " + text, seq: q.record(PartQueue, what, place, key, step, nil)}
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
	q.mark(key, Due, "", k.delay)
}

// Forget ends the count of a key's failures.
func (q *queue) Forget(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if failures := q.limiter.NumRequeues(key); failures > 0 {
		q.record(PartQueue, Forgot, "queue retry", key, Step{Text: fmt.Sprintf("its %d failures no longer count", failures)}, nil)
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
