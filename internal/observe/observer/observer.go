package observer

import (
	"cmp"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/lru"

	"example.com/byhand/internal/observe/trace"
)

// Options say what an Observer records and keeps.
type Options struct {
	// All records every step and keeps the newest. Without it only what the log needs is
	// recorded (the events of the stores, the writes, what the program says), and nothing
	// is kept.
	All bool
	// After is how long after it happened a step is published; 0 for 20 ms. The answer to a write is
	// in by then, although the event of the write may come before it; and not every step wakes a
	// goroutine.
	After time.Duration
}

const (
	// What is kept for late readers: at a step a millisecond most of a minute, in a quiet
	// cluster hours.
	defaultSteps = 50_000
	defaultBytes = 64 << 20
	// maxPending is how many steps may wait to be published: some seconds of a cold start.
	maxPending   = 32 << 10
	publishAfter = 20 * time.Millisecond
)

// Observer numbers steps and adds them to its History, if it is to keep them. Its methods
// are safe for concurrent use, except those that wire (Informers, Handler, Queue,
// Reconcile): call
// them before the first informer runs.
//
// A goroutine that records a step has a key to move on, and waits for nothing but a number and the
// time. Everything else happens when the step is published, by one goroutine at a time and
// in the order of the numbers: texts, objects as JSON, and which event comes from our own
// write.
type Observer struct {
	*trace.History

	all    bool
	after  time.Duration
	places sync.Map          // of *place, by stack: as many as ways through the code
	kinds  map[string]*wired // by kind, and by group/resource

	handling sync.Mutex // held while a handler runs, if all is set
	handles  atomic.Pointer[handler]

	mu      sync.Mutex // held while a step is recorded, and for nothing else
	seq     int64
	pending []pendingStep
	due     bool // publishDue will be called

	publishing sync.Mutex // guards what follows; taken before mu
	// own holds this process's writes, by what they made of the object; received the events
	// of watches.
	own, received remembered

	printers []func(*trace.Step)
}

// pendingStep is a step that was recorded and not published yet.
type pendingStep struct {
	step *trace.Step
	// finish adds what takes time, nil for nothing. It runs after that of the step before.
	finish func(*trace.Step)
}

// New returns an Observer. Close it.
func New(o Options) *Observer {
	return &Observer{
		History: trace.NewHistory(defaultSteps, defaultBytes),
		all:     o.All, after: cmp.Or(o.After, publishAfter),
		kinds: map[string]*wired{},
		own:   remembered{lru.New(maxRemembered)}, received: remembered{lru.New(maxRemembered)},
	}
}

// record numbers a step and returns the number. at is where its code stands, nil for
// nowhere. finish, which may be nil, completes the step when it is published; what it reads
// must not change any more. If too many steps wait already, this one is lost.
func (o *Observer) record(step *trace.Step, at *place, finish func(*trace.Step)) int64 {
	if at != nil {
		step.File, step.Func = at.file, at.function
	}
	if !o.all && step.Part == trace.PartReconcile {
		return 0 // not part of the log
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq++
	step.Seq, step.Time = o.seq, time.Now()
	if !o.due {
		o.due = true
		time.AfterFunc(o.after, o.publishDue)
	}
	if len(o.pending) < maxPending {
		o.pending = append(o.pending, pendingStep{step, finish})
	}
	return o.seq
}

// publishDue publishes what is due, and comes back while something is not.
func (o *Observer) publishDue() {
	o.publishing.Lock()
	o.publish(o.after)
	o.publishing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.due = len(o.pending) > 0; o.due {
		time.AfterFunc(o.after, o.publishDue)
	}
}

// publish publishes what was recorded at least that long ago. The caller holds publishing.
func (o *Observer) publish(age time.Duration) {
	o.mu.Lock()
	until := time.Now().Add(-age)
	n := sort.Search(len(o.pending), func(i int) bool { return o.pending[i].step.Time.After(until) })
	due := o.pending[:n]
	if o.pending = o.pending[n:]; len(o.pending) == 0 {
		o.pending = nil
	}
	o.mu.Unlock()

	steps := make([]*trace.Step, len(due))
	for i, p := range due {
		if p.finish != nil {
			p.finish(p.step)
		}
		for _, print := range o.printers {
			print(p.step)
		}
		steps[i], due[i] = p.step, pendingStep{}
	}
	if o.all {
		o.Add(steps...)
	}
}

// Program records what the whole process does.
func (o *Observer) Program(what, format string, args ...any) {
	o.record(&trace.Step{Part: trace.PartProgram, What: what, Text: fmt.Sprintf(format, args...)}, o.here(), nil)
}

// Close publishes what was recorded before it, and ends Read. It may be called twice.
func (o *Observer) Close() {
	o.publishing.Lock()
	defer o.publishing.Unlock()
	o.publish(0)
	o.History.Close()
}
