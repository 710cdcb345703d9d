package controller

import (
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Two priorities. Without this file a change waits behind objects that did not
// change (TestUnchangedHasLowPriority):
//
//	0.0 s  The program starts. The initial list adds 20,000 keys.
//	0.1 s  A person creates a Foo. Its key is the 20,001st.
//	60 s   A worker takes it. Each of the others needed two requests first (300 Foos a
//	       second on 2 cores).
//
// So a key has low priority if it comes from
//
//   - an initial list,
//   - a retry, or a wait for the cache,
//   - an object that a relist or a resync shows unchanged.
//
// Such keys are taken when no key of a change waits, and each eighth time. In both the namespaces take
// turns (turns.go), and in each the first comes first: a retry waits behind the keys of its namespace that
// an initial list has added.

// PriorityQueue is a Queue with a second priority. AddAfter and AddRateLimited add with low
// priority.
type PriorityQueue interface {
	Queue

	// AddLowPriority adds a key without a pending change. Add raises its priority. It never
	// lowers the priority of a key.
	AddLowPriority(key cache.ObjectName)
}

// NewPriorityQueue returns an empty queue. name labels its metrics.
func NewPriorityQueue(name string) PriorityQueue {
	fifo := &priorityFIFO{high: newTurns(), low: newTurns()}
	ordered := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[cache.ObjectName]{Name: name, Queue: fifo})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[cache.ObjectName]{Name: name, Queue: ordered})
	limiting := workqueue.NewTypedRateLimitingQueueWithConfig(RateLimiter(),
		workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{DelayingQueue: delaying})
	return &priorityQueue{Queue: limiting, fifo: fifo}
}

// LowPriorityWhenUnchanged returns the handler that newHandler makes, but the keys of objects that
// did not change are added with low priority. An informer calls OnAdd with isInInitialList true for
// each object of its first list.
func LowPriorityWhenUnchanged(queue PriorityQueue, newHandler func(Queue) cache.ResourceEventHandler) cache.ResourceEventHandler {
	ifUnchanged := map[bool]cache.ResourceEventHandler{true: newHandler(lowPriority{queue}), false: newHandler(queue)}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, isInInitialList bool) { ifUnchanged[isInInitialList].OnAdd(obj, isInInitialList) },
		UpdateFunc: func(before, after any) { ifUnchanged[isUnchanged(before, after)].OnUpdate(before, after) },
		DeleteFunc: ifUnchanged[false].OnDelete,
	}
}

// lowPriority is the queue of a handler that is called for unchanged objects.
type lowPriority struct{ PriorityQueue }

func (q lowPriority) Add(key cache.ObjectName) { q.AddLowPriority(key) }

type priorityQueue struct {
	Queue
	fifo *priorityFIFO
}

func (q *priorityQueue) Add(key cache.ObjectName) {
	q.fifo.changed.Store(key, nil)
	q.Queue.Add(key)
}

func (q *priorityQueue) AddLowPriority(key cache.ObjectName) { q.Queue.Add(key) }

// lowTurn is how often a key of low priority goes first.
const lowTurn = 8

// priorityFIFO is the order of the waiting keys. It implements workqueue.Queue, whose methods are
// called under the queue's lock.
type priorityFIFO struct {
	// changed holds the keys that Add has added since a worker last took them. Add is called
	// without the queue's lock, so this has one of its own.
	changed sync.Map

	// A key that waits is in exactly one of these.
	high, low *turns
	pops      int
}

// Push is called for a key that does not wait.
func (f *priorityFIFO) Push(key cache.ObjectName) {
	if _, changed := f.changed.Load(key); changed {
		f.high.Push(key)
	} else {
		f.low.Push(key)
	}
}

// Touch is called for a key that waits and is added again.
func (f *priorityFIFO) Touch(key cache.ObjectName) {
	if _, changed := f.changed.Load(key); changed && f.low.remove(key) {
		f.high.Push(key)
	}
}

// Len returns how many keys wait.
func (f *priorityFIFO) Len() int { return f.high.Len() + f.low.Len() }

// Pop takes a key. It is called only if Len is not 0.
func (f *priorityFIFO) Pop() (key cache.ObjectName) {
	if f.pops++; f.high.Len() == 0 || f.pops%lowTurn == 0 && f.low.Len() > 0 {
		key = f.low.Pop()
	} else {
		key = f.high.Pop()
	}
	// The worker that takes the key reads the store after the handler has called Add,
	// so it sees the change.
	f.changed.Delete(key)
	return key
}
