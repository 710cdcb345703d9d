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
//	         workers have eight of them, and reconcile one Foo eight times at once: one creates
//	         its Deployment, seven get 409 AlreadyExists.
//	0.001 s  Each puts the key back, and tries again at once, and again.
//	0.100 s  The Deployment's 100 Pods start. Its status changes 100 times: 100 keys, and 100
//	         reconciles, of which 99 find what the last one finds.
//	0.200 s  The channel is full. The handler waits, and behind it each change of each object
//	         stays in its buffer: memory grows, and every Foo waits for this one.
//
// So a key is there once: dirty until a worker takes it, processing until that worker is done. One that
// is added while it is processing is both, and no worker gets it until then.

// A key that failed waits minDelay, then twice as long each time, up to maxDelay.
const minDelay, maxDelay = 5 * time.Millisecond, 30 * time.Second

// Queue holds the keys that wait for a worker. It is safe for concurrent use.
type Queue struct {
	controller.Queue // nil: the methods that no controller calls would panic

	mu                sync.Mutex
	waiting           buffer[cache.ObjectName] // dirty and not processing, in the order of Add
	dirty, processing map[cache.ObjectName]bool
	delayed           map[cache.ObjectName]time.Time // when it is to be added
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

// Get waits for a key. Call Done with it, whatever came of it.
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

// Done gives a key back. One that was added meanwhile waits from now on.
func (q *Queue) Done(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.processing, key)
	q.push(key)
}

// AddAfter: the earliest time counts.
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
		if q.delayed[key].Equal(at) { // not if an earlier time has taken its place
			delete(q.delayed, key)
			q.add(key)
		}
	})
}

// AddRateLimited is for a key that failed.
func (q *Queue) AddRateLimited(key cache.ObjectName) {
	q.mu.Lock()
	delay := min(minDelay<<min(q.failures[key], 20), maxDelay)
	q.failures[key]++
	q.mu.Unlock()
	q.AddAfter(key, delay)
}

// Forget forgets how often a key has failed. Without it that is kept for ever.
func (q *Queue) Forget(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failures, key)
}

// NumRequeues returns how often a key has failed since Forget.
func (q *Queue) NumRequeues(key cache.ObjectName) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failures[key]
}

// ShutDown ignores every later Add. What waits is still handed out.
func (q *Queue) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shutDown = true
	q.waiting.Close()
}

// AddLowPriority is Add: this queue has one lane.
func (q *Queue) AddLowPriority(key cache.ObjectName) { q.Add(key) }
