package trace

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// waitingSteps is how far a terminal or a pipe may fall behind before steps are
// lost.
const waitingSteps = 10_000

// Print writes the steps to out until Close, in the form that the flag says, and
// nothing if that is off. It returns at once.
func (r *Recorder) Print(f Flag, out io.Writer) {
	if r == nil || !f.on {
		return
	}
	var write writer = newTimeline(out)
	if f.json {
		write = lines{out}
	}
	past, live := r.subscribe(&Subscription{recorder: r, steps: make(chan entry, waitingSteps), wanted: f.wanted, awaited: true})
	r.printer.Go(func() {
		for _, step := range past {
			_ = write.step(step)
		}
		last := Step{}
		for {
			step, lost, ok := live.Next(context.Background())
			if !ok && lost == 0 {
				return
			}
			if !ok {
				step = Step{Seq: last.Seq + 2, Time: time.Now()}
			}
			// A reader that is gone is no reason to stop the controller.
			if lost > 0 {
				_ = write.step(dropped(lost, step))
			}
			if !ok {
				return
			}
			_ = write.step(step)
			last = step
		}
	})
}

type writer interface {
	step(step Step) error
}

// newTimeline returns a timeline in the form that suits out: as wide as the
// terminal and in colour, or plain and as wide as it gets.
func newTimeline(out io.Writer) *timeline {
	t := &timeline{out: out}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return t
	}
	t.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil {
		t.width = width
	}
	return t
}
