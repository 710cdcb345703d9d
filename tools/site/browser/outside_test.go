//go:build page

package browser

import (
	"slices"
	"testing"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
)

// A program that is seen from outside: what comes and what goes travels, and what is inside is drawn,
// and said not to be seen.
func TestOutside(t *testing.T) {
	t.Parallel()
	s := newScript()
	b := open(t, serve(t, s.History, page.Options{Outside: true}), laptop)
	b.sees("#state", "live")
	f := example()
	s.add(slices.DeleteFunc(f.born(), func(step trace.Step) bool {
		return step.Part != trace.PartStream && step.Part != trace.PartRequest
	})...)
	for _, part := range []string{"store", "handler", "queue", "worker", "reconcile"} {
		b.sees(".part-"+part, "inside, not seen")
	}
	b.sees(".part-request", "sent")
	b.witnessed("tokens", "POST")
	b.witnessed("looks", "token object")
	b.click(".part-queue")
	b.sees("#panel", "This is inside the program: not seen from here.")
	b.click(`#objects-table button[data-subject="Foo default/example-foo"]`)
	b.sees("#panel .wire", "POST /apis/apps/v1/namespaces/default/deployments")
	b.check()
	b.shot("outside")
}
