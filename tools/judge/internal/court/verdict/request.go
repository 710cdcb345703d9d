package verdict

import (
	"fmt"
	"strings"

	"example.com/byhand/kit/testkit"
)

// Request is a request of the program.
type Request struct{ testkit.Request }

func (r Request) String() string {
	answer := "no answer"
	if r.Code != 0 {
		answer = strings.TrimSuffix(fmt.Sprintf("%d: %.300s", r.Code, r.Message), ": ")
	}
	verb := r.Method
	if r.Watch {
		verb = "WATCH"
	}
	what := r.Path
	if r.Target.Resource != "" {
		what = r.Target.String() // The namespace is the scenario's.
	}
	return fmt.Sprintf("%s  %-6s %s → %s", r.At.Format("15:04:05.000"), verb, what, answer)
}
