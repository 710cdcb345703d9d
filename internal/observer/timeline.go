package observer

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// timeline writes steps for people, a line each.
type timeline struct {
	// colour marks the parts, width is the terminal's, 0 for one without an end.
	colour bool
	width  int

	start    time.Time
	previous map[string]time.Time // for the same object
}

// mostPrevious bounds how many objects have the time of their last step remembered.
const mostPrevious = 10_000

// The widths of the columns, in characters, with the space that ends each.
const (
	timeColumn, sinceColumn  = 10, 11
	partColumn, whatColumn   = 10, 10
	keyColumn                = 34
	wordsColumn, causeColumn = 58, 50
	fileColumn               = 50
	fixedColumns             = timeColumn + sinceColumn + partColumn + whatColumn
)

// colours are the parts' own.
var colours = map[Part]string{
	PartStream: "36", PartStore: "34", PartQueue: "33", PartWorker: "35",
	PartReconcile: "1", PartRequest: "32", PartProgram: "2",
}

const dim = "2"

// cell is a text in its column. Width 0 is as wide as it gets.
type cell struct {
	text   string
	width  int
	colour string
}

func (t *timeline) line(step *Step) string {
	if t.start.IsZero() {
		t.start = step.Time
	}
	key, words, cause, file := t.widths()
	cells := []cell{
		{fmt.Sprintf("%8.3fs", step.Time.Sub(t.start).Seconds()), timeColumn, dim},
		{t.since(step), sinceColumn, dim},
		{string(step.Part), partColumn, colours[step.Part]},
		{step.What, whatColumn, colours[step.Part]},
		{strings.TrimSpace(step.Kind + " " + step.Key), key, ""},
	}
	if cause > 0 {
		cells = append(cells, cell{wording(step), words, ""}, cell{arrow(step), cause, ""})
	} else {
		cells = append(cells, cell{strings.TrimSpace(wording(step) + " " + arrow(step)), words, ""})
	}
	if file >= 0 {
		cells = append(cells, cell{strings.TrimSpace(step.File + " " + step.Func), file, dim})
	}
	return t.row(cells)
}

// widths shares out what the terminal has. A narrow one shows no file, -1, and a
// very narrow one the cause behind the words, 0.
func (t *timeline) widths() (key, words, cause, file int) {
	rest := t.width - fixedColumns
	switch {
	case t.width == 0 || rest >= keyColumn+wordsColumn+causeColumn+fileColumn:
		return keyColumn, wordsColumn, causeColumn, 0
	case rest >= 30+wordsColumn*3/4+causeColumn*3/4+fileColumn:
		rest -= 30 + fileColumn
		return 30, rest * 5 / 9, rest - rest*5/9, fileColumn
	case rest >= 90:
		rest -= 30
		return 30, rest * 5 / 9, rest - rest*5/9, -1
	default:
		rest = max(rest, 30)
		return rest / 3, rest - rest/3, 0, -1
	}
}

// since is the time since the previous step for the same object.
func (t *timeline) since(step *Step) string {
	if step.For == "" {
		return ""
	}
	if t.previous == nil || len(t.previous) > mostPrevious {
		t.previous = map[string]time.Time{}
	}
	before, ok := t.previous[step.For]
	t.previous[step.For] = step.Time
	if !ok {
		return ""
	}
	return fmt.Sprintf("+%8.3fs", step.Time.Sub(before).Seconds())
}

// row puts cells beside each other. A text that is too long is cut, so the columns
// stay where they are.
func (t *timeline) row(cells []cell) string {
	for len(cells) > 0 && cells[len(cells)-1].text == "" {
		cells = cells[:len(cells)-1]
	}
	var line strings.Builder
	for i, c := range cells {
		text := harmless(c.text)
		if c.width > 0 {
			text = fitted(text, c.width-1)
		}
		padding := ""
		if i < len(cells)-1 {
			padding = strings.Repeat(" ", c.width-utf8.RuneCountInString(text))
		}
		if t.colour && c.colour != "" && text != "" {
			text = "\x1b[" + c.colour + "m" + text + "\x1b[0m"
		}
		line.WriteString(text + padding)
	}
	return line.String() + "\n"
}

// fitted cuts a text to so many characters.
func fitted(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// harmless writes everything as its code point that could move the cursor, change
// the terminal or the direction of the text, or take more or less room than one
// character.
func harmless(text string) string {
	plain := func(r rune) bool {
		return r >= ' ' && r <= '~' || r >= 0xa1 && r <= 0x24f && r != 0xad || strings.ContainsRune("…→←–“”", r)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case plain(r):
			out.WriteRune(r)
		case r == '\n' || r == '\t':
			out.WriteByte(' ')
		default:
			fmt.Fprintf(&out, "<U+%04X>", r)
		}
	}
	return out.String()
}

func arrow(step *Step) string {
	if step.Cause == "" {
		return ""
	}
	return "← " + step.Cause
}

// wording says what a step is, in the words that its other columns leave open.
func wording(step *Step) string {
	switch {
	case step.Part == PartRequest && step.What == Sent:
		return step.Request.Method + " " + tail(step.Request.Path)
	case step.Part == PartRequest && step.What == Answered:
		return fmt.Sprintf("%d %s, %s, %d bytes", step.Request.Status, step.Text, short(step.Took), step.Request.Bytes)
	case step.Part == PartStream && step.What == Received && step.Version != "":
		return step.Text + ", version " + step.Version
	case step.Part == PartStream && step.What == Listed:
		return fmt.Sprintf("%s, %s, %d bytes", step.Text, short(step.Took), step.Request.Bytes)
	case step.Part == PartReconcile && step.Took > 0:
		return fmt.Sprintf("%s (%s)", step.Text, short(step.Took))
	case step.Part == PartWorker && step.What == Done:
		return fmt.Sprintf("after %s, %s", short(step.Took), step.Text)
	case step.Part == PartQueue && step.What == Added && step.Text != "":
		return fmt.Sprintf("%d in the queue, %s", step.Depth, step.Text)
	case step.Part == PartQueue && (step.What == Added || step.What == Due):
		return fmt.Sprintf("%d in the queue", step.Depth)
	default:
		return step.Text
	}
}

// tail is the end of a path, from the resource on.
func tail(path string) string {
	if _, after, ok := strings.Cut(path, "/namespaces/"); ok {
		if _, resource, ok := strings.Cut(after, "/"); ok {
			return "…/" + resource
		}
	}
	return path
}
