package trace

import (
	"context"
	"sync/atomic"
)

// Subscribe returns the steps that are kept, oldest first, and a subscription to
// all that follow: nothing is missing between the two. wanted, which may be nil,
// chooses among both; it is called while others wait, so it must be quick. buffer
// is how many steps may wait for Next.
func (r *Recorder) Subscribe(buffer int, wanted func(*Step) bool) ([]Step, *Subscription) {
	return r.subscribe(&Subscription{recorder: r, steps: make(chan entry, max(buffer, 1)), wanted: wanted})
}

func (r *Recorder) subscribe(s *Subscription) ([]Step, *Subscription) {
	r.telling.Lock()
	r.tell(nil)
	kept := r.past.all()
	if r.closed {
		close(s.steps)
	} else {
		r.live[s] = true
	}
	r.telling.Unlock()

	past := make([]Step, 0, len(kept))
	for _, step := range kept {
		if s.wanted == nil || s.wanted(step) {
			past = append(past, *step)
		}
	}
	return past, s
}

// Subscription receives steps in order. One goroutine may call Next.
type Subscription struct {
	recorder *Recorder
	steps    chan entry
	wanted   func(*Step) bool
	// awaited says that Close waits until it has room.
	awaited bool
	lost    atomic.Int64 // since the last step in the channel
}

// entry is a step and the number of those that were lost right before it.
type entry struct {
	step *Step
	lost int64
}

// offer does not wait, or until end for one that is awaited.
func (s *Subscription) offer(step *Step, end <-chan struct{}) {
	if s.wanted != nil && !s.wanted(step) {
		return
	}
	next := entry{step, s.lost.Load()}
	select {
	case s.steps <- next:
		s.lost.Store(0)
		return
	default:
	}
	if s.awaited && end != nil {
		select {
		case s.steps <- next:
			s.lost.Store(0)
			return
		case <-end:
		}
	}
	s.lost.Add(1)
}

// Next waits for a step and returns it with the number of steps that this
// subscription lost right before it, because it did not keep up. ok is false when
// ctx is done and when the Recorder was closed; lost then counts what was lost
// after the last step.
func (s *Subscription) Next(ctx context.Context) (step Step, lost int64, ok bool) {
	select {
	case entry, open := <-s.steps:
		if open {
			return *entry.step, entry.lost, true
		}
	case <-ctx.Done():
	}
	return Step{}, s.lost.Load(), false
}

// Stop ends the subscription: Next returns what waits and then no more.
func (s *Subscription) Stop() {
	s.recorder.telling.Lock()
	defer s.recorder.telling.Unlock()
	if s.recorder.live[s] {
		delete(s.recorder.live, s)
		close(s.steps)
	}
}
