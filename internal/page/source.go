package page

import (
	"context"

	"example.com/byhand/internal/trace"
)

// Source is where the steps come from. It is used by many goroutines at once.
type Source interface {
	// Subscribe returns the steps that are kept, oldest first, and a subscription to
	// all that follow.
	Subscribe() ([]trace.Step, Subscription)
}

// Subscription receives each new step. It has the contract of trace.Subscription,
// which is one: nobody waits for the reader.
type Subscription interface {
	// Next waits for a step and returns it with the number of steps that were lost
	// right before it. ok is false when ctx is done and when no step will come.
	Next(ctx context.Context) (step trace.Step, lost int64, ok bool)
	Stop()
}

// waiting is how many steps may wait for a browser: a second of a cold start.
const waiting = 1 << 14

// Live is the Source that shows what recorder records.
func Live(recorder *trace.Recorder) Source { return live{recorder} }

type live struct{ recorder *trace.Recorder }

func (l live) Subscribe() ([]trace.Step, Subscription) { return l.recorder.Subscribe(waiting, nil) }

// Replay is a Source that has all its steps from the beginning: a recording. The
// page plays them, at the pace that its reader chooses.
type Replay []trace.Step

// Subscribe returns every step, and a subscription to which nothing comes.
func (r Replay) Subscribe() ([]trace.Step, Subscription) { return r, silence{} }

type silence struct{}

func (silence) Next(ctx context.Context) (step trace.Step, lost int64, ok bool) {
	<-ctx.Done()
	return trace.Step{}, 0, false
}

func (silence) Stop() {}
