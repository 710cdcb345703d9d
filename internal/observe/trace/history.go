package trace

import (
	"context"
	"math"
	"sort"
	"sync"
)

// History keeps the newest steps. It is safe for concurrent use.
type History struct {
	maxSteps int

	mu     sync.Mutex
	steps  []*Step
	news   chan struct{} // closed when steps are added, and at the end
	closed bool
}

// NewHistory returns a History with a limit of steps.
func NewHistory(maxSteps int) *History {
	return &History{maxSteps: maxSteps, news: make(chan struct{})}
}

// Replay returns a History of these steps without a limit.
func Replay(steps ...Step) *History {
	h := NewHistory(math.MaxInt)
	for i := range steps {
		h.Add(&steps[i])
	}
	return h
}

// Add adds steps, which must not change any more. Their numbers must be higher than all earlier
// numbers.
func (h *History) Add(steps ...*Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps = append(h.steps, steps...)
	h.steps = h.steps[max(0, len(h.steps)-h.maxSteps):]
	h.wake()
}

func (h *History) wake() {
	close(h.news)
	h.news = make(chan struct{})
}

// Close ends Read, because no more steps will be added. It may be called twice.
func (h *History) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.wake()
}

// Kept returns the kept steps after this number, oldest first. They must not be changed. A gap in their
// numbers means that steps are missing.
func (h *History) Kept(after int64) []*Step {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.after(after)
}

// Read waits until Kept has a result, and returns it. It returns no steps when ctx is done or the
// History is closed.
func (h *History) Read(ctx context.Context, after int64) []*Step {
	for {
		h.mu.Lock()
		steps, news, closed := h.after(after), h.news, h.closed
		h.mu.Unlock()
		if len(steps) > 0 || closed {
			return steps
		}
		select {
		case <-news:
		case <-ctx.Done():
			return h.Kept(after)
		}
	}
}

// after returns the steps with a higher number. Later additions do not change the result.
func (h *History) after(seq int64) []*Step {
	from := sort.Search(len(h.steps), func(i int) bool { return h.steps[i].Seq > seq })
	return h.steps[from:len(h.steps):len(h.steps)]
}
