package controller

import (
	"hash/fnv"
	"io"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Queue holds the keys that wait for a worker. A key that is added twice before a
// worker takes it is in it once. A key that is added while a worker has it comes
// back when that worker is done.
type Queue interface {
	workqueue.TypedRateLimitingInterface[cache.ObjectName]

	// AddLowPriority adds a key that nobody waits for, one of a first list or of a
	// resync: it stands behind the keys of Add, so that a change does not wait for
	// thousands that did not change. Add moves it forward. One key in eight is taken
	// from behind even so, that none waits for ever.
	AddLowPriority(key cache.ObjectName)
}

// NewQueue returns an empty queue. name labels its metrics. It is client-go's, in
// three layers: one that orders, around it one that delays, around that one that
// says for how long. Keys that failed come back with low priority.
func NewQueue(name string) Queue {
	lines := newLines()
	ordering := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[cache.ObjectName]{Name: name, Queue: lines})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[cache.ObjectName]{Name: name, Queue: ordering})
	limiting := workqueue.NewTypedRateLimitingQueueWithConfig(RateLimiter(),
		workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{DelayingQueue: delaying})
	return &queue{TypedRateLimitingInterface: limiting, lines: lines}
}

type queue struct {
	workqueue.TypedRateLimitingInterface[cache.ObjectName]
	lines *lines
}

func (q *queue) Add(key cache.ObjectName) {
	q.lines.next(key, normal)
	q.TypedRateLimitingInterface.Add(key)
}

func (q *queue) AddLowPriority(key cache.ObjectName) {
	q.lines.next(key, low)
	q.TypedRateLimitingInterface.Add(key)
}

func (q *queue) AddRateLimited(key cache.ObjectName) {
	q.lines.next(key, low)
	q.TypedRateLimitingInterface.AddRateLimited(key)
}

type priority int

const (
	normal priority = iota
	low
)

// lowTurn is how often a key of low priority is taken first: each time out of so
// many.
const lowTurn = 8

// lines is the order of the keys that wait: two lines, first in, first out.
// client-go calls it under the queue's lock, next excepted.
type lines struct {
	line [2]workqueue.Queue[cache.ObjectName]
	// waiting says in which line each key is. A key that moved forward is still found
	// in the line behind, too, and skipped there.
	waiting map[cache.ObjectName]priority
	pops    int

	mu sync.Mutex
	// marked says of which priority the next Push or Touch of a key is. It is normal
	// without a mark.
	marked map[cache.ObjectName]priority
}

func newLines() *lines {
	l := &lines{marked: map[cache.ObjectName]priority{}}
	l.empty()
	return l
}

// empty begins both lines anew. What a first list of a hundred thousand keys took is
// given back: neither a map nor a line gets smaller by itself.
func (l *lines) empty() {
	l.line = [2]workqueue.Queue[cache.ObjectName]{workqueue.DefaultQueue[cache.ObjectName](), workqueue.DefaultQueue[cache.ObjectName]()}
	l.waiting = map[cache.ObjectName]priority{}
}

// next says of which priority a key is that is about to be added. A change that came
// while a worker had the key stays one, whatever that worker's end adds.
func (l *lines) next(key cache.ObjectName, p priority) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.marked[key]; !ok || p < before {
		l.marked[key] = p
	}
}

// take returns what next has said, and forgets it.
func (l *lines) take(key cache.ObjectName) priority {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.marked[key]
	delete(l.marked, key)
	return p
}

// Push implements workqueue.Queue: a key that does not wait yet.
func (l *lines) Push(key cache.ObjectName) {
	p := l.take(key)
	l.waiting[key] = p
	l.line[p].Push(key)
}

// Touch implements workqueue.Queue: a key that waits is added again.
func (l *lines) Touch(key cache.ObjectName) {
	if p := l.take(key); p < l.waiting[key] {
		l.waiting[key] = p
		l.line[p].Push(key)
	}
}

// Len implements workqueue.Queue.
func (l *lines) Len() int { return len(l.waiting) }

// Pop implements workqueue.Queue. It is called only if Len is not 0.
func (l *lines) Pop() cache.ObjectName {
	p, inFront := normal, l.line[normal].Len()
	if l.pops++; inFront == 0 || l.pops%lowTurn == 0 && len(l.waiting) > inFront {
		p = low
	}
	for {
		key := l.line[p].Pop()
		if line, ok := l.waiting[key]; ok && line == p {
			if delete(l.waiting, key); len(l.waiting) == 0 {
				l.empty()
			}
			return key
		}
	}
}

// RateLimiter says how long a key that fails waits: at most 5 ms, then twice as long
// each time, up to half a minute. The delay is the key's own. client-go's default
// would also share ten retries a second among all keys, so that a thousand bad ones
// delay a good one.
func RateLimiter() workqueue.TypedRateLimiter[cache.ObjectName] {
	return spread{workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](5*time.Millisecond, 30*time.Second)}
}

// spread shortens the delays of each key by a share of its own, up to a half, so
// that keys which failed together do not come back together.
type spread struct {
	workqueue.TypedRateLimiter[cache.ObjectName]
}

// When implements workqueue.TypedRateLimiter.
func (s spread) When(key cache.ObjectName) time.Duration {
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, key.String())
	delay := s.TypedRateLimiter.When(key)
	return delay - delay/2*time.Duration(hash.Sum32()%1024)/1024
}
