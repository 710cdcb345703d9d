package main

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/byhand/controller"
)

// The work queue. Without it a handler sends keys into a channel (TestQueue):
//
//	0.000 s  A Foo is created, and its labels and its spec are set one by one: ten keys. Eight
//	         workers get eight of them, and reconcile one Foo eight times at once: one creates
//	         its Deployment, seven get 409 AlreadyExists.
//	0.001 s  Each of them enqueues the key again, retries at once, and so on.
//	0.100 s  The Deployment's 100 Pods start. Its status changes 100 times: 100 keys, and 100
//	         reconciles, 99 of them superfluous.
//	0.200 s  The channel is full. The handler waits, and every later change of any object
//	         stays in its buffer: memory grows, and every Foo waits for this one.
//
// So a key is queued once: dirty until a worker takes it, processing until that worker is done. A key
// added while it is processing is both, and no other worker gets it until the first one is done.

// A failing key waits minDelay, doubled each time, up to maxDelay.
const minDelay, maxDelay = 5 * time.Millisecond, 30 * time.Second

// Queue holds the keys that wait for a worker. It is safe for concurrent use.
type Queue struct {
	controller.Queue // nil: the methods that no controller calls would panic

	mu                sync.Mutex
	waiting           buffer[cache.ObjectName] // dirty and not processing, in the order of Add
	dirty, processing map[cache.ObjectName]bool
	delayed           map[cache.ObjectName]time.Time // when to add it
	failures          map[cache.ObjectName]int
	shutDown          bool
}

func NewQueue() *Queue {
	return &Queue{dirty: map[cache.ObjectName]bool{}, processing: map[cache.ObjectName]bool{},
		delayed: map[cache.ObjectName]time.Time{}, failures: map[cache.ObjectName]int{}}
}

func (q *Queue) Add(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(key)
}

func (q *Queue) add(key cache.ObjectName) {
	if q.shutDown || q.dirty[key] {
		return
	}
	q.dirty[key] = true
	klog.V(1).Infof("%s is dirty (processing: %t)", key, q.processing[key])
	q.push(key)
}

func (q *Queue) push(key cache.ObjectName) {
	if q.dirty[key] && !q.processing[key] {
		q.waiting.put(key)
	}
}

// Get waits for a key. Call Done with it, even after an error.
func (q *Queue) Get() (key cache.ObjectName, shutdown bool) {
	key, ok := q.waiting.take()
	if !ok {
		return key, true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	klog.V(1).Infof("a worker takes %s", key)
	delete(q.dirty, key)
	q.processing[key] = true
	return key, false
}

// Done releases a key. If it was added meanwhile, it is queued now.
func (q *Queue) Done(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.processing, key)
	q.push(key)
}

// AddAfter adds a key later. If a key has several times, the earliest counts.
func (q *Queue) AddAfter(key cache.ObjectName, delay time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := time.Now().Add(delay)
	if before, ok := q.delayed[key]; ok && before.Before(at) {
		return
	}
	q.delayed[key] = at
	time.AfterFunc(delay, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.delayed[key].Equal(at) { // unless an earlier time has replaced it
			delete(q.delayed, key)
			q.add(key)
		}
	})
}

// AddRateLimited adds a failed key after its back-off.
func (q *Queue) AddRateLimited(key cache.ObjectName) {
	q.mu.Lock()
	delay := min(minDelay<<min(q.failures[key], 20), maxDelay)
	q.failures[key]++
	q.mu.Unlock()
	q.AddAfter(key, delay)
}

// Forget resets a key's failures. Without it they are kept forever.
func (q *Queue) Forget(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failures, key)
}

// NumRequeues returns the key's failures since Forget.
func (q *Queue) NumRequeues(key cache.ObjectName) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failures[key]
}

// ShutDown ignores every later Add. Get still returns the queued keys.
func (q *Queue) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shutDown = true
	q.waiting.Close()
}

// AddLowPriority is Add: this queue has no priorities.
func (q *Queue) AddLowPriority(key cache.ObjectName) { q.Add(key) }
