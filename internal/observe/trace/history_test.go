package trace

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func add(h *History, seq int) { h.Add(&Step{Seq: int64(seq), Text: fmt.Sprint(seq)}) }

func texts(steps []*Step) (all []string) {
	for _, step := range steps {
		all = append(all, step.Text)
	}
	return all
}

// A late reader gets the newest steps, and their numbers show which steps are missing. After Close, Read
// returns the remaining steps, then nothing.
func TestRead(t *testing.T) {
	h := NewHistory(2)
	for i := range 5 {
		add(h, i+1)
	}
	for after, want := range map[int64][]string{0: {"4", "5"}, 4: {"5"}, 5: nil} {
		if diff := cmp.Diff(want, texts(h.Kept(after))); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", after, diff)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if steps := h.Read(cancelled, 5); len(steps) != 0 {
		t.Errorf("%d steps come after the last", len(steps))
	}
	h.Close()
	if steps, more := h.Read(t.Context(), 4), h.Read(t.Context(), 5); len(steps) != 1 || len(more) != 0 {
		t.Errorf("after Close, Read returns %d steps, then %d, want 1 and 0", len(steps), len(more))
	}
}
