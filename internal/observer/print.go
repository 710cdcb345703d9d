package observer

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// form is how steps are printed: as a story, as a timeline, as JSON. A step that is not
// part of it has no line, "".
type form interface {
	line(*Step) string
}

// printer is one that prints.
type printer struct {
	form
	wanted func(*Step) bool
	log    *Log
}

// Print writes the steps that are told from now on to out, in the form that the flag
// says. Nobody waits for out: see Log.
func (o *Observer) Print(f Flag, out io.Writer) {
	p := printer{wanted: f.wanted, log: NewLog(out)}
	switch {
	case f.json:
		// A gap in the numbers says what is missing.
		p.form, p.log.silent = jsonLines{}, true
	case f.on:
		p.form = newTimeline(out)
	default:
		p.form = &story{found: map[string]int{}}
	}
	o.telling.Lock()
	defer o.telling.Unlock()
	o.printers = append(o.printers, p)
}

// print prints a step. Whoever calls it holds telling.
func (o *Observer) print(step *Step) {
	for _, p := range o.printers {
		if !p.wanted(step) {
			continue
		}
		if line := p.line(step); line != "" {
			_, _ = p.log.Write([]byte(line))
		}
	}
}

// dropped stands in the place of steps that are missing, the last of which has this
// number.
func dropped(missing, seq int64) *Step {
	return &Step{Seq: seq, Time: time.Now(), Part: PartProgram, What: Dropped, Text: fmt.Sprintf("%d steps not shown", missing)}
}

// newTimeline returns a timeline in the form that suits out: as wide as the
// terminal and in colour, or plain and as wide as it gets.
func newTimeline(out io.Writer) *timeline {
	t := &timeline{}
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
