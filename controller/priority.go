package controller

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// Priority. Without this file, a user's change waits behind objects that did not change
// (TestUnchangedHasLowPriority):
//
//	0.0 s  The program starts. The initial list enqueues 20,000 keys.
//	0.1 s  A user creates a Foo. Its key is the 20,001st.
//	60 s   A worker takes it.
//
// So the queue has two lanes. Add uses the high one. Initial lists, resyncs, retries and delays use the
// low one. Every eighth key comes from the low lane, so it always makes progress.

// lanes holds the waiting keys in order. It implements workqueue.Queue, whose methods client-go calls under
// the lock of its queue.
type lanes struct {
	changed   sync.Map                  // the keys of Add, until a worker takes them
	waiting   map[cache.ObjectName]bool // whether the key is in the high lane
	high, low []cache.ObjectName        // low may still hold keys that have moved to high
	turns     int
}

func newLanes() *lanes { return &lanes{waiting: map[cache.ObjectName]bool{}} }

func (l *lanes) Len() int { return len(l.waiting) }

// Push puts a key into its lane.
func (l *lanes) Push(key cache.ObjectName) {
	_, isHigh := l.changed.Load(key)
	if l.waiting[key] = isHigh; isHigh {
		l.high = append(l.high, key)
	} else {
		l.low = append(l.low, key)
	}
}

// Touch receives a waiting key that is added again. A change moves it to the high lane.
func (l *lanes) Touch(key cache.ObjectName) {
	if _, changed := l.changed.Load(key); changed && !l.waiting[key] {
		l.Push(key)
	}
}

// Pop returns the next key. Len must not be 0.
func (l *lanes) Pop() cache.ObjectName {
	l.turns++
	for {
		lane := &l.low
		if len(l.high) > 0 && (l.turns%8 != 0 || len(l.low) == 0) {
			lane = &l.high
		}
		key := (*lane)[0]
		*lane = (*lane)[1:]
		if isHigh, waits := l.waiting[key]; waits && isHigh == (lane == &l.high) {
			delete(l.waiting, key)
			l.changed.Delete(key)
			return key
		}
	}
}
