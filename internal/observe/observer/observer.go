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

// Options configure the steps that an Observer records and keeps.
type Options struct {
	// All records every step and keeps the newest ones. Otherwise only steps of the log are
	// recorded (store events, writes, program steps), and none are kept.
	All bool
	// After delays the publication of a step; 0 means 20 ms. The event of a write may arrive before
	// the response: the delay lets the response arrive, and publishes steps in batches.
	After time.Duration
}

const (
	// maxSteps limits the History: with a step per millisecond 20 seconds, in a quiet cluster hours.
	maxSteps = 20_000
	// maxPending limits the unpublished steps: some seconds of a cold start.
	maxPending   = 32 << 10
	publishAfter = 20 * time.Millisecond
)

// Observer numbers steps, and adds them to its History if Options.All is set. Its methods are safe for
// concurrent use, except the wiring methods (Informers, Handler, Queue, Reconcile): call those before
// the first informer runs.
//
// Recording a step takes only a number and the time, so that it does not delay the key. All other work
// happens when the step is published, by one goroutine at a time and in the order of the numbers:
// texts, objects as JSON, and the decision which events are echoes of the controller's own writes.
type Observer struct {
	*trace.History

	all    bool
	after  time.Duration
	places sync.Map          // *place by stack; bounded by the number of code paths
	kinds  map[string]*wired // by kind, and by group/resource

	handling sync.Mutex // held while a handler runs, if all is set
	handles  atomic.Pointer[handler]

	mu      sync.Mutex // held only while a step is recorded
	seq     int64
	pending []pendingStep
	due     bool // publishDue will be called

	publishing sync.Mutex // guards the fields below; taken before mu
	// own has this process's writes by resulting version; received has the events of watches.
	own, received remembered

	printers []func(*trace.Step)
}

type pendingStep struct {
	step *trace.Step
	// finish completes the step with slow work; it may be nil. It runs in the order of steps.
	finish func(*trace.Step)
}

// New returns an Observer. Call Close at the end.
func New(o Options) *Observer {
	return &Observer{
		History: trace.NewHistory(maxSteps),
		all:     o.All, after: cmp.Or(o.After, publishAfter),
		kinds: map[string]*wired{},
		own:   remembered{lru.New(maxRemembered)}, received: remembered{lru.New(maxRemembered)},
	}
}

// record numbers a step and returns the number. at is the location of its code, or nil. finish, which
// may be nil, completes the step when it is published; it must read only immutable data. If too many
// steps are pending, the step is lost.
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

// publishDue publishes due steps, and runs again while steps are pending.
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

// publish publishes the steps that are at least age old. The caller holds publishing.
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

// Program records a step of the whole process.
func (o *Observer) Program(what, format string, args ...any) {
	o.record(&trace.Step{Part: trace.PartProgram, What: what, Text: fmt.Sprintf(format, args...)}, o.here(), nil)
}

// Close publishes all recorded steps, and ends Read. It may be called twice.
func (o *Observer) Close() {
	o.publishing.Lock()
	defer o.publishing.Unlock()
	o.publish(0)
	o.History.Close()
}
