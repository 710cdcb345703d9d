package observer

import (
	"fmt"
	"net/http"
	"strings"

	"example.com/byhand/internal/observe/trace"
)

// wordOf returns the log\'s word for an event of a store, "" for one in which nothing
// that it tells has changed.
func (o *Observer) wordOf(k *wired, e *event, before any, text string) string {
	was, shown := o.describe(k, before)
	switch {
	case e.initial:
		return "found"
	case e.what == trace.Tombstone:
		return "deleted"
	case e.what == trace.Added, e.what == trace.Deleted:
		return e.what
	case e.what == trace.Updated && (!shown || was != text):
		return "changed"
	default:
		return ""
	}
}

// logLine returns the line of a step in the log for learners: received changes, resulting requests,
// and steps of the program, with the time of day.
func logLine(step *trace.Step) string {
	text := ""
	switch request := step.Request; {
	case step.Log != "" && step.Part != trace.PartStore: // of a program that is seen from outside
		text = fmt.Sprintf("%-7s  %s", step.Log, step.Text)
	case step.Part == trace.PartProgram:
		text = step.Text
	case step.Log != "":
		text = fmt.Sprintf("%-7s  %s %s: %s", step.Log, step.Kind, step.Key, step.Text)
	case step.Part == trace.PartRequest && step.What != trace.Sent && request.Method != http.MethodGet:
		answer, why := "no answer", ""
		if step.What == trace.Answered {
			answer = strings.TrimSpace(fmt.Sprintf("%d %s", request.Status, http.StatusText(request.Status)))
		}
		if step.For != "" {
			why = "  (for " + step.For + ")"
		}
		text = fmt.Sprintf("sent     %s %s → %s%s", request.Method, request.Path, answer, why)
	}
	if text == "" {
		return ""
	}
	return step.Time.Format("15:04:05.000  ") + Harmless(text) + "\n"
}
