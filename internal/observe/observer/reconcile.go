package observer

import (
	"context"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/internal/observe/trace"
)

// Reconciler has the method that controller.Reconcile describes.
type Reconciler interface {
	Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error)
}

// Reconcile records the cause, the decisions and the end of each reconcile of a kind. Requests that
// next sends with its context belong to the reconcile. The keys come from the kind's Queue.
func (o *Observer) Reconcile(k Kind, next Reconciler) Reconciler {
	return &observedReconciler{o, o.wire(k), placeOfReconcile(next), next}
}

type observedReconciler struct {
	observer *Observer
	kind     *wired
	at       *place
	next     Reconciler
}

func (r *observedReconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	run := &run{observedReconciler: r, key: key, began: time.Now()}
	run.start()
	returned := false
	// A panic is not recovered: that is for the caller to do.
	defer func() {
		switch {
		case !returned:
			run.end(&trace.Step{What: trace.Failed}, "panicked")
		case err != nil:
			run.end(&trace.Step{What: trace.Failed}, "error: "+err.Error())
		case requeueAfter > 0:
			run.end(&trace.Step{What: trace.Ended, Requeue: requeueAfter}, "look again in "+requeueAfter.String()+" at the latest")
		default:
			run.end(&trace.Step{What: trace.Ended})
		}
	}()
	requeueAfter, err = r.next.Reconcile(context.WithValue(ctx, runOfContext{}, run), key)
	returned = true
	return requeueAfter, err
}

type runOfContext struct{}

// runOf returns the reconcile that a request is sent for, or nil.
func runOf(ctx context.Context) *run {
	run, _ := ctx.Value(runOfContext{}).(*run)
	return run
}

type run struct {
	*observedReconciler
	key      cache.ObjectName
	waiting  *waiting // where the key is, nil without Options.All
	began    time.Time
	seq      int64
	outcomes []string // what came of the requests; used while steps are published
}

func (r *run) name() string { return r.kind.GVK.Kind + " " + r.key.String() }

func (r *run) record(step *trace.Step, finish func(*trace.Step)) int64 {
	step.Part, step.Kind, step.Key, step.For = trace.PartReconcile, r.kind.GVK.Kind, r.key.String(), r.name()
	return r.observer.record(step, r.at, finish)
}

func (r *run) start() {
	step, why := &trace.Step{What: trace.Started}, causes{}
	if queue := r.kind.queue; queue != nil {
		r.waiting = queue.running(r.key)
		why = r.waiting.now
		step.CauseSeq = why.seq()
	}
	r.seq = r.record(step, func(step *trace.Step) { step.Cause = why.words(r.observer) })
}

// end records the end: what came of each request, and then this.
func (r *run) end(step *trace.Step, more ...string) {
	step.CauseSeq, step.Took = r.seq, time.Since(r.began)
	seq := r.record(step, func(step *trace.Step) {
		outcomes := r.outcomes
		if len(outcomes) == 0 && step.What == trace.Ended {
			outcomes = []string{"sent nothing"}
		}
		step.Text = cut(strings.Join(append(outcomes, more...), "; "), wordsLimit)
	})
	if r.waiting != nil {
		r.waiting.reconciled = seq
	}
}
