package trace

import (
	"context"
	"fmt"
	"strings"
	"sync"
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
		run := &run{recorder: r, key: key, began: time.Now()}
		run.start()
		returned := false
		// A panic is not recovered: that is for the caller to do.
		defer func() {
			if !returned {
				run.end(Failed, "panicked")
			}
		}()
		again, err = next(context.WithValue(ctx, runOfContext{}, run), key)
		returned = true
		if err != nil {
			run.end(Failed, cut(strings.Join(append(run.said(), "error: "+err.Error()), "; "), wordsLimit))
		} else {
			run.end(Ended, run.decision(again))
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
	began    time.Time
	seq      int64

	mu    sync.Mutex
	deeds []string
}

func (r *run) start() {
	step := Step{Part: PartReconcile, What: Started, Kind: "Foo", Key: r.key.String(), Foo: r.key.String()}
	if queue := r.recorder.queue; queue != nil {
		why := queue.woken(r.key)
		step.Cause, step.CauseSeq = why.words(r.recorder), why.seq()
	}
	r.seq = r.recorder.record(step.at("reconcile"))
}

func (r *run) end(what, text string) {
	step := Step{Part: PartReconcile, What: what, Kind: "Foo", Key: r.key.String(), Foo: r.key.String(),
		Text: text, CauseSeq: r.seq, Took: time.Since(r.began)}.at("reconcile")
	if len(r.said()) == 0 && text != nothing && what == Ended {
		step = step.at("reconcile behind")
	}
	seq := r.recorder.record(step)
	if queue := r.recorder.queue; queue != nil {
		queue.reconciled(r.key, seq)
	}
}

// did notes a request and what came of it.
func (r *run) did(deed string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deeds = append(r.deeds, deed)
}

func (r *run) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.deeds[:len(r.deeds):len(r.deeds)]
}

const nothing = "nothing to do"

// decision says in words what a reconcile without an error has come to. A
// reconcile that wants to look again waits for its stores, and for nothing else.
func (r *run) decision(again time.Duration) string {
	deeds := r.said()
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
