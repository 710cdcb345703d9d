package look

import (
	"fmt"
	"sync"
	"time"
)

// toldAfter is how long after it happened a note is told. The answer to a write is in by then,
// although the event of the write may come before it.
const toldAfter = 50 * time.Millisecond

// maxPending is how many bytes of what is not told yet are kept.
const maxPending = 64 << 20

// note is something that happened.
type note struct {
	at   time.Time
	seen any // an *event, a *write or a text
	// bytes is about how much it holds.
	bytes int
}

// notes hands on what happened, in order, to one caller at a time. Who adds one waits for nothing.
type notes struct {
	run func(note)

	mu      sync.Mutex
	pending []note
	bytes   int
	dropped int
	heard   bool
	due     bool
	telling sync.Mutex // held while notes are told; taken before mu
}

// add adds a note.
func (n *notes) add(seen any, bytes int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = true
	if n.bytes+bytes > maxPending {
		n.dropped++
		return
	}
	n.pending, n.bytes = append(n.pending, note{time.Now(), seen, bytes}), n.bytes+bytes
	if !n.due {
		n.due = true
		time.AfterFunc(toldAfter, func() { n.tell(toldAfter) })
	}
}

// tell tells what is that old, and comes back while something is left.
func (n *notes) tell(age time.Duration) {
	n.telling.Lock()
	defer n.telling.Unlock()
	for {
		n.mu.Lock()
		if n.dropped > 0 && len(n.pending) == 0 {
			n.pending = append(n.pending, note{time.Now(), fmt.Sprintf("%d events and requests are not told: too many at once", n.dropped), 0})
			n.dropped = 0
		}
		if len(n.pending) == 0 {
			n.due = false
			n.mu.Unlock()
			return
		}
		first := n.pending[0]
		if wait := age - time.Since(first.at); wait > 0 {
			time.AfterFunc(wait, func() { n.tell(toldAfter) })
			n.mu.Unlock()
			return
		}
		n.pending, n.bytes = n.pending[1:], n.bytes-first.bytes
		n.mu.Unlock()
		n.run(first)
	}
}

func (n *notes) any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.heard
}

// close tells all that is left.
func (n *notes) close() { n.tell(0) }
