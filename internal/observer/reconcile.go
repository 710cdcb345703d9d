package observer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// Reconciler is what has a controller.Reconcile.
type Reconciler interface {
	Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error)
}

// Reconcile records what woke each reconcile of a kind, what it decided and how it
// ended. Requests that next sends with its context, through Transport, count as its
// own. The keys come from the kind's Queue.
func (o *Observer) Reconcile(k Kind, next Reconciler) controller.Reconcile {
	kind := o.wire(k)
	switch {
	case !kind.queued:
		panic(fmt.Sprintf("observer: nothing wakes the reconcile of %s: wire its queue with Observer.Queue first", k.Kind))
	case kind.reconciled:
		panic(fmt.Sprintf("observer: a second reconcile of %s: they could not be told apart", k.Kind))
	}
	kind.reconciled = true
	at := placeOfMethod(next, "Reconcile")
	return func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
		run := &run{observer: o, kind: kind, key: key, at: at, began: time.Now()}
		run.start()
		returned := false
		// A panic is not recovered: that is for the caller to do.
		defer func() {
			switch {
			case !returned:
				run.end(&Step{What: Failed, Panicked: true}, func([]string) string { return "panicked" })
			case err != nil:
				problem := "error: " + err.Error()
				run.end(&Step{What: Failed}, func(deeds []string) string { return cut(strings.Join(append(deeds, problem), "; "), wordsLimit) })
			default:
				run.end(&Step{What: Ended, Requeue: requeueAfter}, func(deeds []string) string { return decision(deeds, requeueAfter) })
			}
		}()
		requeueAfter, err = next.Reconcile(context.WithValue(ctx, runOfContext{}, run), key)
		returned = true
		return requeueAfter, err
	}
}

type runOfContext struct{}

// runOf returns the reconcile that a request is sent for, or nil.
func runOf(ctx context.Context) *run {
	run, _ := ctx.Value(runOfContext{}).(*run)
	return run
}

// run is one call of a reconcile.
type run struct {
	observer *Observer
	kind     *wired
	key      cache.ObjectName
	at       *place
	began    time.Time
	seq      int64
	asked    atomic.Int32 // requests whose end was recorded

	deeds []string // what came of them; added to and read while telling
}

// name is the reconciled object's.
func (r *run) name() string { return r.kind.Kind.Kind + " " + r.key.String() }

func (r *run) record(step *Step, finish func(*Step)) int64 {
	step.Part, step.Kind, step.Key, step.For = PartReconcile, r.kind.Kind.Kind, r.key.String(), r.name()
	return r.observer.record(step, r.at, 0, finish)
}

func (r *run) start() {
	step, why := &Step{What: Started}, causes{}
	if queue := r.kind.queue; queue != nil {
		why = queue.woken(r.key)
		step.CauseSeq = why.seq()
	}
	r.seq = r.record(step, func(step *Step) { step.Cause = why.words(r.observer) })
}

// end records the end, as step says. text makes it into words, when it is told, from what
// came of each request.
func (r *run) end(step *Step, text func(deeds []string) string) {
	asked := int(r.asked.Load())
	step.CauseSeq, step.Took = r.seq, time.Since(r.began)
	seq := r.record(step, func(step *Step) {
		deeds := slices.Clip(r.deeds)
		if asked > len(deeds) {
			deeds = append(deeds, fmt.Sprintf("requests whose steps are missing: %d", asked-len(deeds)))
		}
		step.Text = text(deeds)
	})
	if queue := r.kind.queue; queue != nil {
		queue.reconciled(r.key, seq)
	}
}

// decision says in words what a reconcile without an error has come to.
func decision(deeds []string, requeueAfter time.Duration) string {
	text := "nothing to do"
	if len(deeds) > 0 {
		text = cut(strings.Join(deeds, ", "), wordsLimit)
	}
	if requeueAfter > 0 {
		text += fmt.Sprintf("; look again in %s", requeueAfter)
	}
	return text
}
