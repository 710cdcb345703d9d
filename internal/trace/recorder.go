package trace

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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
)

const (
	// mostWaiting and mostWaitingBytes bound what is recorded and not told yet: some
	// seconds of a cold start.
	mostWaiting      = 32 << 10
	mostWaitingBytes = 32 << 20
	// together is how long a step waits to be told with others, so that whoever
	// records them does not wake a goroutine for each.
	together = 5 * time.Millisecond
	// lastWords is how long Close waits.
	lastWords = 3 * time.Second
)

// Recorder numbers steps, keeps the newest and hands each one to whoever has
// subscribed. It is safe for concurrent use, and nil is one that is off.
//
// What records a step is on its way with a key, and is held up by nothing but its
// number and its time. All else is done later, when the step is told, by one
// goroutine at a time and in the order of the numbers: texts, objects as JSON, and
// whose write came back as which event.
type Recorder struct {
	mu       sync.Mutex // held while a note is taken, and for nothing else
	seq      int64
	notes    []note
	missing  int64 // after the last note
	due      bool  // somebody will tell
	waiting  atomic.Int64
	captured atomic.Int64 // bytes

	telling sync.Mutex // guards what follows; taken before mu
	past    ring
	live    map[*Subscription]bool
	closed  bool
	writes  writes
	streams streams

	printer sync.WaitGroup
	queue   *queue
}

// note is a step that was recorded and not told yet.
type note struct {
	step *Step
	// finish adds what takes time, nil for nothing. It may use the Recorder's writes
	// and streams: what the notes before have told of them is what was so when this
	// one was taken.
	finish func(*Step)
	// bytes is how much it holds that nobody else does.
	bytes int64
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

// record numbers a step and returns the number.
func (r *Recorder) record(step Step) int64 { return r.later(step, 0, nil) }

// later numbers a step that finish completes when it is told. What finish reads must
// not change any more. bytes is the size of what it holds on to, besides objects of
// a store: those are there in any case, or came with an event whose bytes count.
func (r *Recorder) later(step Step, bytes int, finish func(*Step)) int64 {
	n := note{step: &step, finish: finish, bytes: int64(bytes)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	step.Seq, step.Time = r.seq, time.Now()
	if !r.due {
		r.due = true
		time.AfterFunc(together, r.soon)
	}
	// Once one is missing all are, until somebody tells: the gap has one place.
	if r.missing > 0 || r.waiting.Load() >= mostWaiting || r.captured.Load()+n.bytes > mostWaitingBytes {
		r.missing++
		return r.seq
	}
	r.notes = append(r.notes, n)
	r.waiting.Add(1)
	r.captured.Add(n.bytes)
	return r.seq
}

// soon tells what is due, unless somebody is telling: then a moment later.
func (r *Recorder) soon() {
	if !r.telling.TryLock() {
		time.AfterFunc(together, r.soon)
		return
	}
	defer r.telling.Unlock()
	r.tell(nil)
}

// tell tells what was recorded before the call. Whoever calls it holds telling.
// Until end, which may be nil, it waits for printers that are behind.
func (r *Recorder) tell(end <-chan struct{}) {
	r.mu.Lock()
	notes, missing, last := r.notes, r.missing, r.seq
	r.notes, r.missing, r.due = nil, 0, false
	r.mu.Unlock()

	for i, n := range notes {
		if n.finish != nil {
			n.finish(n.step)
		}
		r.hand(n.step, end)
		notes[i] = note{}
		r.waiting.Add(-1)
		r.captured.Add(-n.bytes)
	}
	if missing > 0 {
		gap := dropped(missing, Step{Seq: last + 1, Time: time.Now()})
		r.hand(&gap, end)
		// Which of them were answered meanwhile is among what is missing.
		r.writes.underway = nil
	}
}

// hand keeps a step and hands it on.
func (r *Recorder) hand(step *Step, end <-chan struct{}) {
	r.past.add(step)
	for s := range r.live {
		s.offer(step, end)
	}
}

// Program records what the whole process does.
func (r *Recorder) Program(what, format string, args ...any) {
	if r != nil {
		r.record(Step{Part: PartProgram, What: what, Text: fmt.Sprintf(format, args...)}.at("program"))
	}
}

// Close tells what was recorded before it, ends each subscription after the steps
// that wait for it, and waits for what Print has yet to write, though not long for
// a reader that does not read.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		r.end(ctx.Done())
		r.printer.Wait()
	}()
	select {
	case <-printed:
	case <-ctx.Done():
	}
}

func (r *Recorder) end(end <-chan struct{}) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.tell(end)
	r.closed = true
	for s := range r.live {
		close(s.steps)
	}
	clear(r.live)
}
