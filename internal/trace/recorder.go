package trace

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Options bound what a Recorder keeps for those who come later.
type Options struct {
	// Steps and Bytes are how much of the past it keeps, 0 for the default.
	Steps int
	Bytes int64
}

// The past of a Recorder by default: at a step a millisecond, most of a minute; in
// a quiet cluster, hours.
const (
	defaultSteps = 50_000
	defaultBytes = 64 << 20
	// stepBytes is about what a step takes besides the texts in it.
	stepBytes = 400
)

// Recorder numbers steps, keeps the newest and hands each one to whoever has
// subscribed. It is safe for concurrent use, and nil is one that is off.
type Recorder struct {
	mu      sync.Mutex
	seq     int64
	past    ring
	live    map[*Subscription]bool
	closed  bool
	printer sync.WaitGroup

	writes  writes
	streams streams
	queue   *queue
}

// New returns a Recorder that is on.
func New(o Options) *Recorder {
	if o.Steps == 0 {
		o.Steps = defaultSteps
	}
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	return &Recorder{past: ring{most: o.Steps, mostBytes: o.Bytes}, live: map[*Subscription]bool{}}
}

// record numbers a step, keeps it and hands it on. It returns the number.
func (r *Recorder) record(step Step) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	step.Seq, step.Time = r.seq, time.Now()
	kept := &step
	r.past.add(kept)
	for s := range r.live {
		s.offer(kept)
	}
	return r.seq
}

// Program records what the whole process does.
func (r *Recorder) Program(what, format string, args ...any) {
	if r != nil {
		r.record(Step{Part: PartProgram, What: what, Text: fmt.Sprintf(format, args...)}.at("program"))
	}
}

// Subscribe returns the steps that are kept, oldest first, and a subscription to
// all that follow: nothing is missing between the two. wanted, which may be nil,
// chooses among both; it is called while others wait, so it must be quick. buffer
// is how many steps may wait for Next.
func (r *Recorder) Subscribe(buffer int, wanted func(*Step) bool) ([]Step, *Subscription) {
	s := &Subscription{recorder: r, steps: make(chan entry, max(buffer, 1)), wanted: wanted}
	r.mu.Lock()
	kept := r.past.all()
	if r.closed {
		close(s.steps)
	} else {
		r.live[s] = true
	}
	r.mu.Unlock()

	past := make([]Step, 0, len(kept))
	for _, step := range kept {
		if wanted == nil || wanted(step) {
			past = append(past, *step)
		}
	}
	return past, s
}

// Close ends each subscription after the steps that wait for it, and waits for
// what Print has yet to write, though not long for a reader that does not read.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	for s := range r.live {
		close(s.steps)
	}
	clear(r.live)
	r.mu.Unlock()

	printed := make(chan struct{})
	go func() {
		r.printer.Wait()
		close(printed)
	}()
	select {
	case <-printed:
	case <-time.After(time.Second):
	}
}

// Subscription receives steps in order. One goroutine may call Next.
type Subscription struct {
	recorder *Recorder
	steps    chan entry
	wanted   func(*Step) bool
	lost     int64 // since the last step in the channel; guarded by recorder.mu
}

// entry is a step and the number of those that were lost right before it.
type entry struct {
	step *Step
	lost int64
}

// offer never waits.
func (s *Subscription) offer(step *Step) {
	if s.wanted != nil && !s.wanted(step) {
		return
	}
	select {
	case s.steps <- entry{step, s.lost}:
		s.lost = 0
	default:
		s.lost++
	}
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
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	return Step{}, s.lost, false
}

// Stop ends the subscription: Next returns what waits and then no more.
func (s *Subscription) Stop() {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	if s.recorder.live[s] {
		delete(s.recorder.live, s)
		close(s.steps)
	}
}

// ring keeps the newest steps within two bounds.
type ring struct {
	most      int
	mostBytes int64
	steps     []*Step // from first on, in a circle once it is full
	first     int
	count     int
	bytes     int64
}

func (r *ring) add(step *Step) {
	r.bytes += size(step)
	for r.count > 0 && (r.count == r.most || r.bytes > r.mostBytes) {
		r.bytes -= size(r.steps[r.first])
		r.steps[r.first] = nil
		r.first = (r.first + 1) % len(r.steps)
		r.count--
	}
	if r.count == len(r.steps) && r.count < r.most {
		r.grow()
	}
	r.steps[(r.first+r.count)%len(r.steps)] = step
	r.count++
}

// grow doubles the circle, up to its bound.
func (r *ring) grow() {
	steps := make([]*Step, min(max(2*r.count, 64), r.most))
	copy(steps, r.all())
	r.steps, r.first = steps, 0
}

func (r *ring) all() []*Step {
	all := make([]*Step, r.count)
	for i := range all {
		all[i] = r.steps[(r.first+i)%len(r.steps)]
	}
	return all
}

func size(step *Step) int64 {
	bytes := stepBytes + len(step.Key) + len(step.Foo) + len(step.Text) + len(step.Cause) + len(step.Object)
	if request := step.Request; request != nil {
		bytes += stepBytes/4 + len(request.Path) + len(request.Query) + len(request.Body) + len(request.Reply)
	}
	return int64(bytes)
}
