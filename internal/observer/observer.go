package observer

import (
	"context"
	"fmt"
	"math"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/lru"

	"example.com/byhand/controller"
)

// Options say what an Observer records and keeps.
type Options struct {
	// All records every step and keeps the newest. Without it only what the story needs is
	// recorded (the events of the stores, the writes, what the program says), and nothing
	// is kept.
	All bool
	// Count, if it is not nil, is called with each step when it happens, even if there is
	// no room to record it, and with the steps of reconciles even without All. It must be
	// quick. Seq, Time and Text are not set yet.
	Count func(*Step)
}

const (
	// What is kept for late readers: at a step a millisecond most of a minute, in a quiet
	// cluster hours.
	defaultSteps = 50_000
	defaultBytes = 64 << 20
	// maxPending bounds what is recorded and not published yet, in bytes: some seconds of
	// a cold start.
	maxPending = 32 << 20
	// stepOverhead is about what a pending step takes besides what it holds.
	stepOverhead = 1 << 10
	// publishAfter is how long after it happened a step is published. The answer to a
	// write is in by then, although the event of the write may come before it; and not
	// every step wakes a goroutine.
	publishAfter = 20 * time.Millisecond
)

// Observer numbers steps and keeps the newest for whoever reads them. Its methods are
// safe for concurrent use, except those that wire (Handler, Queue, Reconcile): call
// them before the first informer runs.
//
// Whoever records a step has a key to move on, and waits for nothing but a number and the
// time. Everything else happens when the step is published, by one goroutine at a time and
// in the order of the numbers: texts, objects as JSON, and which event comes from our own
// write.
type Observer struct {
	all    bool
	count  func(*Step)
	places sync.Map          // of *place, by stack: as many as ways through the code
	kinds  map[string]*wired // by kind, and by group/resource
	queues map[controller.PriorityQueue]bool

	mu      sync.Mutex // held while a step is recorded, and for nothing else
	seq     int64
	pending []pendingStep
	missing int          // after the last pending step
	due     bool         // publishDue will be called
	bytes   atomic.Int64 // of pending

	publishing sync.Mutex // guards what follows; taken before mu
	history    history
	news       chan struct{} // closed when history has more, or will get no more
	closed     bool
	// own holds this process's writes, by what they made of the object; received the events
	// of watches.
	own, received remembered

	printers []func(*Step)
	logs     []*Log // what they write to
}

// pendingStep is a step that was recorded and not published yet.
type pendingStep struct {
	step *Step
	// finish adds what takes time, nil for nothing. It runs after that of the step before.
	finish func(*Step)
	// bytes is how much it holds that nobody else does.
	bytes int64
}

// New returns an Observer. Close it.
func New(o Options) *Observer {
	return &Observer{
		all: o.All, count: o.Count,
		kinds: map[string]*wired{}, queues: map[controller.PriorityQueue]bool{},
		history: history{maxSteps: defaultSteps, maxBytes: defaultBytes}, news: make(chan struct{}),
		own: remembered{lru.New(maxRemembered)}, received: remembered{lru.New(maxRemembered)},
	}
}

// Replay returns an Observer that keeps the steps of a recording, and what is added.
func Replay(steps ...Step) *Observer {
	o := New(Options{})
	o.history = history{maxSteps: math.MaxInt, maxBytes: math.MaxInt64}
	o.Add(steps...)
	return o
}

// Add adds steps as they are. Their numbers must be higher than those before.
func (o *Observer) Add(steps ...Step) {
	o.publishing.Lock()
	defer o.publishing.Unlock()
	for i := range steps {
		o.history.add(&steps[i])
	}
	o.wake()
}

// record numbers a step and returns the number. at is where its code stands, nil for
// nowhere. finish, which may be nil, completes the step when it is published; what it reads
// must not change any more. bytes is the size of what it holds, besides objects of a store:
// those are there in any case, or came with an event whose bytes count.
func (o *Observer) record(step *Step, at *place, bytes int, finish func(*Step)) int64 {
	p := pendingStep{step: step, finish: finish, bytes: int64(stepOverhead + bytes)}
	if at != nil {
		step.File, step.Func = at.file, at.function
	}
	if o.count != nil {
		o.count(step)
	}
	if !o.all && step.Part == PartReconcile {
		return 0 // not part of the story
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq++
	step.Seq, step.Time = o.seq, time.Now()
	if !o.due {
		o.due = true
		time.AfterFunc(publishAfter, o.publishDue)
	}
	// After one is missing all are, until the pending ones are published: the gap has one
	// place.
	if o.missing > 0 || o.bytes.Load()+p.bytes > maxPending {
		o.missing++
		return o.seq
	}
	o.pending = append(o.pending, p)
	o.bytes.Add(p.bytes)
	return o.seq
}

// publishDue publishes what is due, and comes back while something is not.
func (o *Observer) publishDue() {
	o.publishing.Lock()
	o.publish(publishAfter)
	o.publishing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.due = len(o.pending) > 0 || o.missing > 0; o.due {
		time.AfterFunc(publishAfter, o.publishDue)
	}
}

// publish publishes what was recorded at least that long ago. The caller holds publishing.
func (o *Observer) publish(age time.Duration) {
	o.mu.Lock()
	until := time.Now().Add(-age)
	n := sort.Search(len(o.pending), func(i int) bool { return o.pending[i].step.Time.After(until) })
	due, missing, last := o.pending[:n], 0, o.seq
	if o.pending = o.pending[n:]; len(o.pending) == 0 {
		missing, o.missing, o.pending = o.missing, 0, nil
	}
	o.mu.Unlock()

	for i, p := range due {
		if p.finish != nil {
			p.finish(p.step)
		}
		if o.all {
			o.history.add(p.step)
		}
		o.print(p.step)
		due[i] = pendingStep{}
		o.bytes.Add(-p.bytes)
	}
	if missing > 0 {
		o.print(&Step{Seq: last, Time: time.Now(), Part: PartProgram, What: Dropped, Text: fmt.Sprintf("%d steps not shown", missing)})
	}
	o.wake()
}

func (o *Observer) print(step *Step) {
	for _, print := range o.printers {
		print(step)
	}
}

// wake wakes all who wait in Read.
func (o *Observer) wake() {
	close(o.news)
	o.news = make(chan struct{})
}

// Kept returns the kept steps after the one with this number, oldest first. Nobody may
// change them. A gap in their numbers says that steps are missing.
func (o *Observer) Kept(after int64) []*Step {
	o.publishing.Lock()
	defer o.publishing.Unlock()
	return o.history.after(after)
}

// Read returns what Kept does, and waits until that is not empty. It returns none when ctx
// is done, and when no step will come any more.
func (o *Observer) Read(ctx context.Context, after int64) []*Step {
	for {
		o.publishing.Lock()
		steps, news, closed := o.history.after(after), o.news, o.closed
		o.publishing.Unlock()
		if len(steps) > 0 || closed {
			return steps
		}
		select {
		case <-news:
		case <-ctx.Done():
			return o.Kept(after)
		}
	}
}

// Program records what the whole process does.
func (o *Observer) Program(what, format string, args ...any) {
	o.record(&Step{Part: PartProgram, What: what, Text: fmt.Sprintf(format, args...)}, o.here(), 0, nil)
}

// Close publishes what was recorded before it, ends Read, and gives what Print has written
// a second to be read. It may be called twice.
func (o *Observer) Close() {
	o.publishing.Lock()
	o.publish(0)
	o.closed = true
	o.wake()
	logs := o.logs
	o.publishing.Unlock()
	for _, log := range logs {
		log.Flush()
	}
}

// history keeps the newest steps within two bounds.
type history struct {
	maxSteps int
	maxBytes int64
	steps    []*Step
	bytes    int64
}

func (h *history) add(step *Step) {
	h.steps, h.bytes = append(h.steps, step), h.bytes+size(step)
	for len(h.steps) > 1 && (len(h.steps) > h.maxSteps || h.bytes > h.maxBytes) {
		h.bytes -= size(h.steps[0])
		h.steps = h.steps[1:]
	}
}

// after returns the steps with a higher number. What is added later does not change it.
func (h *history) after(seq int64) []*Step {
	from := sort.Search(len(h.steps), func(i int) bool { return h.steps[i].Seq > seq })
	return h.steps[from:len(h.steps):len(h.steps)]
}

// stepBytes is about what a step takes besides the texts in it.
const stepBytes = 400

func size(step *Step) int64 {
	bytes := stepBytes + len(step.Key) + len(step.For) + len(step.Text) + len(step.Cause) + len(step.Object)
	if request := step.Request; request != nil {
		bytes += stepBytes/4 + len(request.Path) + len(request.Query) + len(request.Body) + len(request.Reply)
	}
	return int64(bytes)
}
