package controller

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Two priorities, and a limit. Without this file a change waits behind objects that did not
// change (TestUnchangedHasLowPriority):
//
//	0.0 s  The program starts. The initial list adds 20,000 keys.
//	0.1 s  A person creates a Foo. Its key is the 20,001st.
//	60 s   A worker takes it. Each of the others needed two requests first (300 Foos a
//	       second on 2 cores).
//
// So the keys of an initial list, of a retry, of a wait for the cache, and of objects that a
// relist or a resync shows unchanged have low priority. They are taken when no key of a change
// waits, and in every eighth turn. Within a priority the first comes first: a retry waits behind
// a whole initial list.
//
// A change also waits for a free worker (TestFailingKeysLeaveWorkersFree):
//
//	0.0 s  In one namespace a webhook does not answer: the write of each of 100 Foos fails
//	       after 10 s. Each is retried after 15 to 30 s, so 16 workers always have 16 of them.
//	0.1 s  A person creates a Foo elsewhere. Its key is the first.
//	8 s    A worker takes it.
//
// So at most half of the workers have a key that has failed and came back by a delay.

// PriorityQueue is a Queue with a second priority. AddAfter and AddRateLimited add with low
// priority. A key that has failed and whose delay is over may be kept out of the queue, and of
// Len, until another such key is done.
type PriorityQueue interface {
	Queue

	// AddLowPriority adds a key without a pending change. Add raises its priority. It never
	// lowers the priority of a key.
	AddLowPriority(key cache.ObjectName)
}

// NewPriorityQueue returns an empty queue for this number of workers: at most half of them, one
// at least, retry at the same time. name labels its metrics.
func NewPriorityQueue(name string, workers int) PriorityQueue {
	fifo, limiter := &priorityFIFO{inLow: map[cache.ObjectName]*list.Element{}}, RateLimiter()
	ordered := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[cache.ObjectName]{Name: name, Queue: fifo})
	retries := &retries{TypedInterface: ordered, limiter: limiter, limit: max(1, workers/2),
		parked: workqueue.NewTyped[cache.ObjectName](), admitted: sets.Set[cache.ObjectName]{}}
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[cache.ObjectName]{Name: name, Queue: retries})
	limiting := workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
		workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{DelayingQueue: delaying})
	return &priorityQueue{Queue: limiting, ordered: ordered, fifo: fifo}
}

// WithLowPriorityWhenUnchanged changes the function that makes a handler: the handler adds
// the keys of objects that did not change with low priority. An informer calls OnAdd with
// isInInitialList true for each object of its first list.
func WithLowPriorityWhenUnchanged(newHandler func(Queue) cache.ResourceEventHandler) func(PriorityQueue) cache.ResourceEventHandler {
	return func(queue PriorityQueue) cache.ResourceEventHandler {
		changed, unchanged := newHandler(queue), newHandler(lowPriority{queue})
		choose := func(isUnchanged bool) cache.ResourceEventHandler {
			if isUnchanged {
				return unchanged
			}
			return changed
		}
		return cache.ResourceEventHandlerDetailedFuncs{
			AddFunc:    func(obj any, isInInitialList bool) { choose(isInInitialList).OnAdd(obj, isInInitialList) },
			UpdateFunc: func(before, after any) { choose(isUnchanged(before, after)).OnUpdate(before, after) },
			DeleteFunc: changed.OnDelete,
		}
	}
}

// lowPriority is the queue of a handler that is called for unchanged objects.
type lowPriority struct{ PriorityQueue }

func (q lowPriority) Add(key cache.ObjectName) { q.AddLowPriority(key) }

// priorityQueue adds keys to ordered, past what is for delays.
type priorityQueue struct {
	Queue
	ordered workqueue.TypedInterface[cache.ObjectName]
	fifo    *priorityFIFO
}

func (q *priorityQueue) Add(key cache.ObjectName) {
	q.fifo.changed.Store(key, nil)
	q.ordered.Add(key)
}

func (q *priorityQueue) AddLowPriority(key cache.ObjectName) { q.ordered.Add(key) }

// retries is the queue to which a key comes back when its delay is over. Of the keys that have
// failed it lets at most limit into the queue behind it, until they are done; the others are
// parked. A parked key that a handler adds need not wait, and is retried in its turn as well.
type retries struct {
	workqueue.TypedInterface[cache.ObjectName]
	limiter workqueue.TypedRateLimiter[cache.ObjectName]
	parked  workqueue.TypedInterface[cache.ObjectName]

	mu       sync.Mutex
	admitted sets.Set[cache.ObjectName]
	limit    int
}

// Add is called when the delay of a key is over.
func (r *retries) Add(key cache.ObjectName) {
	if r.limiter.NumRequeues(key) == 0 {
		r.TypedInterface.Add(key)
		return
	}
	r.parked.Add(key)
	r.admit()
}

// Done lets in the next one.
func (r *retries) Done(key cache.ObjectName) {
	r.TypedInterface.Done(key)
	r.admit(key)
}

// admit lets in as many as there is room for, after those that are done.
func (r *retries) admit(done ...cache.ObjectName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.admitted.Delete(done...)
	for len(r.admitted) < r.limit && r.parked.Len() > 0 {
		key, _ := r.parked.Get()
		r.parked.Done(key)
		r.admitted.Insert(key)
		r.TypedInterface.Add(key)
	}
}

// lowTurn is how often a key of low priority goes first.
const lowTurn = 8

// priorityFIFO is the order of the waiting keys: one FIFO for each priority. It
// implements workqueue.Queue, whose methods are called under the queue's lock.
type priorityFIFO struct {
	// changed holds the keys that Add has added since a worker last took them. Add is called
	// without the queue's lock, so this has one of its own.
	changed sync.Map

	high, low list.List                          // of cache.ObjectName
	inLow     map[cache.ObjectName]*list.Element // where in low a key is
	pops      int
}

// Push is called for a key that does not wait.
func (f *priorityFIFO) Push(key cache.ObjectName) {
	if _, changed := f.changed.Load(key); changed {
		f.high.PushBack(key)
	} else {
		f.inLow[key] = f.low.PushBack(key)
	}
}

// Touch is called for a key that waits and is added again.
func (f *priorityFIFO) Touch(key cache.ObjectName) {
	_, changed := f.changed.Load(key)
	if element, ok := f.inLow[key]; ok && changed {
		f.low.Remove(element)
		delete(f.inLow, key)
		f.high.PushBack(key)
	}
}

// Len returns how many keys wait.
func (f *priorityFIFO) Len() int { return f.high.Len() + f.low.Len() }

// Pop takes a key. It is called only if Len is not 0.
func (f *priorityFIFO) Pop() cache.ObjectName {
	line := &f.high
	if f.pops++; line.Len() == 0 || f.pops%lowTurn == 0 && f.low.Len() > 0 {
		line = &f.low
	}
	key := line.Remove(line.Front()).(cache.ObjectName)
	delete(f.inLow, key)
	if line == &f.low && len(f.inLow) == 0 {
		// A map does not shrink: give back the memory of a long initial list.
		f.inLow = map[cache.ObjectName]*list.Element{}
	}
	// The worker that takes the key reads the store after the handler has called Add,
	// so it sees the change.
	f.changed.Delete(key)
	return key
}
