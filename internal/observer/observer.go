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
	// All records every step, and keeps the newest. Without it only what the story tells
	// is recorded (the events of the stores, the writes, what the program says), and
	// nothing is kept.
	All bool
	// Count, if it is not nil, is called with each step at the moment when it happens,
	// also when that is not recorded for want of room. It must be quick. The steps of
	// reconciles come without All, too. Seq, Time and Text are not set yet.
	Count func(*Step)
}

const (
	// The past by default: at a step a millisecond most of a minute, in a quiet
	// cluster hours.
	defaultSteps = 50_000
	defaultBytes = 64 << 20
	// mostWaiting bounds what is recorded and not told yet, in bytes: some seconds of a
	// cold start.
	mostWaiting = 32 << 20
	// noteBytes is about what a step takes until it is told, besides what it holds.
	noteBytes = 1 << 10
	// tellAfter is how long after a step it is told: the answer to a write, which the
	// event of it may overtake, is in by then, and not each step wakes a goroutine.
	tellAfter = 20 * time.Millisecond
)

// Observer numbers steps and keeps the newest for whoever reads them. Its methods are
// safe for concurrent use, except those that wire (Handler, Queue, Reconcile): call
// them before the first informer runs.
//
// What records a step is on its way with a key, and is held up by nothing but its
// number and its time. All else is done later, when the step is told, by one
// goroutine at a time and in the order of the numbers: texts, objects as JSON, and
// whose write came back as which event.
type Observer struct {
	all    bool
	count  func(*Step)
	places sync.Map          // of *place, by stack: as many as ways through the code
	kinds  map[string]*wired // by kind, and by group/resource
	queues map[controller.PriorityQueue]bool

	mu      sync.Mutex // held while a note is taken, and for nothing else
	seq     int64
	notes   []note
	missing int          // after the last note
	due     bool         // somebody will tell
	waiting atomic.Int64 // bytes

	telling sync.Mutex // guards what follows; taken before mu
	past    past
	news    chan struct{} // closed when there is more in past, or none will come
	closed  bool
	// own holds the answers to writes of this process, by what they made of the object;
	// received the events of watches.
	own, received remembered

	printers []func(*Step)
	logs     []*Log // what they write to
}

// note is a step that was recorded and not told yet.
type note struct {
	step *Step
	// finish adds what takes time, nil for nothing. It may use what the notes before
	// have told, such as the Observer's writes: that is what was so when this one was
	// taken.
	finish func(*Step)
	// bytes is how much it holds that nobody else does.
	bytes int64
}

// New returns an Observer. Close it.
func New(o Options) *Observer {
	return &Observer{
		all: o.All, count: o.Count,
		kinds: map[string]*wired{}, queues: map[controller.PriorityQueue]bool{},
		past: past{most: defaultSteps, mostBytes: defaultBytes}, news: make(chan struct{}),
		own: remembered{lru.New(mostRemembered)}, received: remembered{lru.New(mostRemembered)},
	}
}

// Replay returns an Observer that keeps the steps of a recording, and what is added.
func Replay(steps ...Step) *Observer {
	o := New(Options{})
	o.past = past{most: math.MaxInt, mostBytes: math.MaxInt64}
	o.Add(steps...)
	return o
}

// Add adds steps as they are, with numbers that are higher than those before.
func (o *Observer) Add(steps ...Step) {
	o.telling.Lock()
	defer o.telling.Unlock()
	for i := range steps {
		o.past.add(&steps[i])
	}
	o.wake()
}

// record numbers a step and returns the number. at is where its code stands, nil for
// nowhere. finish, which may be nil, completes the step when it is told; what it reads
// must not change any more. bytes is the size of what it holds on to, besides objects of
// a store: those are there in any case, or came with an event whose bytes count.
func (o *Observer) record(step *Step, at *place, bytes int, finish func(*Step)) int64 {
	n := note{step: step, finish: finish, bytes: int64(noteBytes + bytes)}
	if at != nil {
		step.File, step.Func = at.file, at.function
	}
	if o.count != nil {
		o.count(step)
	}
	if !o.all && step.Part == PartReconcile {
		return 0 // no part of the story
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq++
	step.Seq, step.Time = o.seq, time.Now()
	if !o.due {
		o.due = true
		time.AfterFunc(tellAfter, o.soon)
	}
	// Once one is missing all are, until somebody tells: the gap has one place.
	if o.missing > 0 || o.waiting.Load()+n.bytes > mostWaiting {
		o.missing++
		return o.seq
	}
	o.notes = append(o.notes, n)
	o.waiting.Add(n.bytes)
	return o.seq
}

// soon tells what is due, and comes back while something is not.
func (o *Observer) soon() {
	o.telling.Lock()
	o.tell(tellAfter)
	o.telling.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.due = len(o.notes) > 0 || o.missing > 0; o.due {
		time.AfterFunc(tellAfter, o.soon)
	}
}

// tell tells what was recorded at least that long before the call. Whoever calls it holds
// telling.
func (o *Observer) tell(age time.Duration) {
	o.mu.Lock()
	until := time.Now().Add(-age)
	n := sort.Search(len(o.notes), func(i int) bool { return o.notes[i].step.Time.After(until) })
	notes, missing, last := o.notes[:n], 0, o.seq
	if o.notes = o.notes[n:]; len(o.notes) == 0 {
		missing, o.missing, o.notes = o.missing, 0, nil
	}
	o.mu.Unlock()

	for i, n := range notes {
		if n.finish != nil {
			n.finish(n.step)
		}
		if o.all {
			o.past.add(n.step)
		}
		o.print(n.step)
		notes[i] = note{}
		o.waiting.Add(-n.bytes)
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
	o.telling.Lock()
	defer o.telling.Unlock()
	return o.past.after(after)
}

// Read returns what Kept does, and waits until it is not empty. It returns none when
// there is none though ctx is done, and when no step will come any more.
func (o *Observer) Read(ctx context.Context, after int64) []*Step {
	for {
		o.telling.Lock()
		steps, news, closed := o.past.after(after), o.news, o.closed
		o.telling.Unlock()
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

// Close tells what was recorded before it, ends Read, and gives what Print has written a
// second to be read. It may be called twice.
func (o *Observer) Close() {
	o.telling.Lock()
	defer o.telling.Unlock()
	o.tell(0)
	o.closed = true
	o.wake()
	for _, log := range o.logs {
		log.Flush()
	}
}

// past keeps the newest steps within two bounds.
type past struct {
	most      int
	mostBytes int64
	steps     []*Step
	bytes     int64
}

func (p *past) add(step *Step) {
	p.steps, p.bytes = append(p.steps, step), p.bytes+size(step)
	for len(p.steps) > 1 && (len(p.steps) > p.most || p.bytes > p.mostBytes) {
		p.bytes -= size(p.steps[0])
		p.steps = p.steps[1:]
	}
}

// after returns the steps with a higher number. What is added later does not change it.
func (p *past) after(seq int64) []*Step {
	from := sort.Search(len(p.steps), func(i int) bool { return p.steps[i].Seq > seq })
	return p.steps[from:len(p.steps):len(p.steps)]
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
