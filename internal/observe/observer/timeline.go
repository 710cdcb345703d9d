package observer

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/byhand/internal/observe/trace"
)

// timeline writes steps for people, a line each.
type timeline struct {
	// width is the terminal's, 0 for one without an end.
	width int

	start    time.Time
	previous map[string]time.Time // for the same object
}

// maxPrevious bounds how many objects have the time of their last step remembered.
const maxPrevious = 10_000

// The widths of the columns, in characters, with the space that ends each.
const (
	timeColumn, sinceColumn  = 10, 11
	partColumn, whatColumn   = 10, 10
	keyColumn                = 34
	wordsColumn, causeColumn = 58, 50
	fileColumn               = 60
	fixedColumns             = timeColumn + sinceColumn + partColumn + whatColumn + keyColumn
)

// line returns the step's line. A terminal that is too narrow for all columns has no file.
func (t *timeline) line(step *trace.Step) string {
	if t.start.IsZero() {
		t.start = step.Time
	}
	words, cause, file := wordsColumn, causeColumn, strings.TrimSpace(step.File+" "+step.Func)
	if t.width > 0 && t.width < fixedColumns+wordsColumn+causeColumn+fileColumn {
		rest := max(t.width-fixedColumns, 30)
		words, cause, file = rest*5/9, rest-rest*5/9, ""
	}
	why := ""
	if step.Cause != "" {
		why = "← " + step.Cause
	}
	return strings.TrimRight(cell(fmt.Sprintf("%8.3fs", step.Time.Sub(t.start).Seconds()), timeColumn)+
		cell(t.since(step), sinceColumn)+
		cell(string(step.Part), partColumn)+
		cell(step.What, whatColumn)+
		cell(strings.TrimSpace(step.Kind+" "+step.Key), keyColumn)+
		cell(wording(step), words)+
		cell(why, cause)+
		cell(file, fileColumn), " ") + "\n"
}

// since is the time since the previous step for the same object.
func (t *timeline) since(step *trace.Step) string {
	if t.previous == nil || len(t.previous) > maxPrevious {
		t.previous = map[string]time.Time{}
	}
	before, ok := t.previous[step.For]
	if step.For != "" {
		t.previous[step.For] = step.Time
	}
	if !ok {
		return ""
	}
	return fmt.Sprintf("+%8.3fs", step.Time.Sub(before).Seconds())
}

// cell puts a text into its column. One that is too long is cut off.
func cell(text string, width int) string {
	text = Harmless(text)
	if utf8.RuneCountInString(text) > width-1 {
		text = string([]rune(text)[:width-2]) + "…"
	}
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// Harmless writes everything as its code point that could move the cursor, change
// the terminal or the direction of the text, or take more or less room than one
// character.
func Harmless(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r >= ' ' && r <= '~' || r >= 0xa1 && r <= 0x24f && r != 0xad || strings.ContainsRune("…→←–“”", r):
			out.WriteRune(r)
		case r == '\n' || r == '\t':
			out.WriteByte(' ')
		default:
			fmt.Fprintf(&out, "<U+%04X>", r)
		}
	}
	return out.String()
}

// namespaced is the part of a path that every object of a namespace has.
var namespaced = regexp.MustCompile(`^/.*/namespaces/[^/]+/`)

// wording says what a step is, in the words that its other columns leave open.
func wording(step *trace.Step) string {
	switch {
	case step.Part == trace.PartRequest && step.What == trace.Sent:
		return step.Request.Method + " " + namespaced.ReplaceAllString(step.Request.Path, "…/")
	case step.What == trace.Answered || step.What == trace.Listed:
		return fmt.Sprintf("%d %s, %s, %d bytes", step.Request.Status, step.Text, short(step.Took), step.Request.Bytes)
	case step.Part == trace.PartStream && step.What == trace.Received && step.Version != "":
		return step.Text + ", version " + step.Version
	case step.Part == trace.PartReconcile && step.Took > 0:
		return fmt.Sprintf("%s (%s)", step.Text, short(step.Took))
	case step.Part == trace.PartWorker && step.What == trace.Done:
		return fmt.Sprintf("after %s, %s", short(step.Took), step.Text)
	case step.Part == trace.PartQueue && (step.What == trace.Added || step.What == trace.Due):
		return strings.TrimSuffix(fmt.Sprintf("%d in the queue, %s", step.Depth, step.Text), ", ")
	default:
		return step.Text
	}
}
