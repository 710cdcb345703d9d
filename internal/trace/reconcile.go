package trace

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

// Reconcile records what woke each call of next, what it decided and how it ended.
// Requests that next sends with its context, through Transport, count as its own.
func (r *Recorder) Reconcile(next controller.Reconcile) controller.Reconcile {
	if r == nil {
		return next
	}
	return func(ctx context.Context, key cache.ObjectName) (again time.Duration, err error) {
		run := &run{recorder: r, key: key, foo: key.String(), began: time.Now()}
		run.start()
		returned := false
		// A panic is not recovered: that is for the caller to do.
		defer func() {
			if !returned {
				run.end(Failed, func([]string) string { return "panicked" })
			}
		}()
		again, err = next(context.WithValue(ctx, runOfContext{}, run), key)
		returned = true
		if err != nil {
			problem := "error: " + err.Error()
			run.end(Failed, func(deeds []string) string { return cut(strings.Join(append(deeds, problem), "; "), wordsLimit) })
		} else {
			run.end(Ended, func(deeds []string) string { return decision(deeds, again) })
		}
		return again, err
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
	recorder *Recorder
	key      cache.ObjectName
	foo      string
	began    time.Time
	seq      int64
	asked    atomic.Int32 // requests whose end was recorded

	deeds []string // what came of them; added to and read while telling
}

func (r *run) step(what string) Step {
	return Step{Part: PartReconcile, What: what, Kind: "Foo", Key: r.foo, Foo: r.foo}
}

func (r *run) start() {
	step, why := r.step(Started), causes{}
	if queue := r.recorder.queue; queue != nil {
		why = queue.woken(r.key)
		step.CauseSeq = why.seq()
	}
	r.seq = r.recorder.later(step, 0, func(step *Step) {
		*step = step.at("reconcile")
		step.Cause = why.words(r.recorder)
	})
}

// end records the end. text makes it into words, when it is told, from what came of
// each request.
func (r *run) end(what string, text func(deeds []string) string) {
	step, asked := r.step(what), int(r.asked.Load())
	step.CauseSeq, step.Took = r.seq, time.Since(r.began)
	seq := r.recorder.later(step, 0, func(step *Step) {
		deeds := slices.Clip(r.deeds)
		if asked > len(deeds) {
			deeds = append(deeds, fmt.Sprintf("requests whose steps are missing: %d", asked-len(deeds)))
		}
		step.Text = text(deeds)
		place := "reconcile"
		if len(deeds) == 0 && step.Text != nothing && what == Ended {
			place = "reconcile behind"
		}
		*step = step.at(place)
	})
	if queue := r.recorder.queue; queue != nil {
		queue.reconciled(r.key, seq)
	}
}

const nothing = "nothing to do"

// decision says in words what a reconcile without an error has come to. A
// reconcile that wants to look again waits for its stores, and for nothing else.
func decision(deeds []string, again time.Duration) string {
	switch {
	case len(deeds) == 0 && again == 0:
		return nothing
	case len(deeds) == 0:
		return fmt.Sprintf("the stores do not show our last write yet: look again in %s", again)
	case again > 0:
		return fmt.Sprintf("%s; the stores are behind the server: look again in %s", strings.Join(deeds, ", "), again)
	default:
		return strings.Join(deeds, ", ")
	}
}
