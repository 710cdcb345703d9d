package look

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/byhand/internal/trace"
)

const (
	inRow      = 2                // times that are no finding yet
	longPause  = 10 * time.Second // between tries is no haste
	shortWatch = time.Second
	mostPaced  = 8 // requests with the same pause between them are no chance
	heldFor    = 10 * time.Second
)

// Finding is what is wasted or wrong, and the requests that show it.
type Finding struct {
	Name string `json:"name"`
	What string `json:"what"`
	// Right is the file of this repository that does it right.
	Right    string   `json:"right"`
	Count    int      `json:"count"`
	Requests []string `json:"requests"` // the first ones

	// How it is found: in a write, in whatever was answered, or at the end. What is found is said in
	// words, "" is nothing.
	inWrite  func(f *findings, w *write) string
	inAnswer func(f *findings, a *answer) string
	atEnd    func(g *Glass) []string
}

// rules are all findings that there can be.
func rules() []*Finding {
	return []*Finding{
		{Name: "no-op-write", What: "a write that changed nothing", Right: "controller/foo/status.go: updateStatus compares before it writes",
			inWrite: func(_ *findings, w *write) string {
				return said(w.noOp && w.method != http.MethodDelete, "%s", w.Text)
			}},
		{Name: "write-without-cause", What: "a write of an object although nothing that is seen had changed since its last one: a time stamp, the order of a list or a map, a default compared with nil?", Right: "controller/foo/deployment.go: differs compares the fields that the program sets, and no other",
			inWrite: func(_ *findings, w *write) string {
				// A single one may come of an event that came before the last one was sent, while that waited.
				return said(w.isDone() && !w.noOp && w.changed != "" && w.why == byNobody && w.last.why == byNobody && w.last.failed == "", "%s, %s after the last one", w.Text, ago(w.pause))
			}},
		{Name: "loop", What: "the event of its own write led to the same write again, more than twice in a row", Right: "controller/foo/status.go: the status is computed from the current state, and is the same if that is",
			inWrite: func(f *findings, w *write) string {
				n := f.inRow("loop "+w.key(), w.why == byEcho)
				return said(n > inRow, "%s, %d times in a row", w.Text, n)
			}},
		{Name: "fight", What: "another client undid what it wrote, and it wrote the same again, more than twice in a row", Right: "controller/failures.go: a write that did not stick has failed, and waits for its back-off",
			inWrite: func(f *findings, w *write) string {
				isUndone := w.why == byEvent && w.isDone() && w.changed != "" && w.changed == w.last.changed && w.cause.object.UID == w.now.UID
				n := f.inRow("fight "+w.key(), isUndone)
				return said(n >= inRow, "%s, %d times in a row; undone by %s", w.Text, n+1, w.undoer())
			}},
		{Name: "own-conflict", What: "a 409 by its own haste: it wrote from a version that its own write had replaced", Right: "controller/readyourwrites.go: no write from a cache that does not show the last one",
			inWrite: func(f *findings, w *write) string {
				return said(w.failed == "409 Conflict" && f.world.old.of(w.version(w.from)), "%s, from version %s", w.Text, w.from)
			}},
		{Name: "steady-retry", What: "the same refusal again and again, without a growing pause", Right: "controller/queue.go: each failure doubles the pause of its key",
			inWrite: func(f *findings, w *write) string {
				n := f.inRow("steady "+w.key(), w.why == again && w.failed == w.last.failed && w.pause <= w.last.pause*6/5 && w.pause < longPause)
				return said(n > inRow, "%s, %d times with a pause of %s", w.Text, n+2, ago(w.pause))
			}},
		{Name: "relist", What: "a list from the beginning, which no 410 asked for", Right: "informer/informer.go: a watch that ends is opened again from the last version",
			inAnswer: func(_ *findings, a *answer) string {
				return said(a.isFromStart() && !a.isExtraList() && a.seen && !a.expired && a.open == 0, "%s", a)
			}},
		{Name: "short-watch", What: "a watch that ends within a second, twice and more in a row", Right: "informer/informer.go: one watch stays open for minutes",
			inAnswer: func(_ *findings, a *answer) string {
				return said(a.What == trace.Ended && a.short >= inRow, "%s ended after %s, %d times in a row", a, ago(a.took()), a.short)
			}},
		{Name: "list-of-watched", What: "a list without a limit of what it watches anyway", Right: "informer/informer.go: the store has what the watch told",
			inAnswer: func(_ *findings, a *answer) string { return said(a.isExtraList(), "%s", a) }},
		{Name: "get-of-watched", What: "a GET that told what its own watch had told; before a write that cannot be undone it may be meant", Right: "controller/foo/reconcile.go: reads the stores",
			inAnswer: func(f *findings, a *answer) string {
				if a.What != trace.Answered || a.isWrite() || a.Subresource != "" || a.code != http.StatusOK || !a.isWatched {
					return ""
				}
				known := f.world.known(a.resource, keyOf(a.Namespace, a.Name))
				return said(known != nil && known.ResourceVersion == text(a.body, "metadata", "resourceVersion"), "%s", a)
			}},
		{Name: "client-limit", What: "requests with the same pause between them: this looks like a limit of the client", Right: "kit/connect/connect.go: Limit is one for all clients, and high",
			inAnswer: func(f *findings, a *answer) string {
				if a.What != trace.Answered && a.What != trace.Listed {
					return ""
				}
				pause, isLimit := f.paced(a)
				return said(isLimit, "%d requests in %s, the last is %s: one each %s", mostPaced, (mostPaced * pause).Round(time.Millisecond), a, pause.Round(time.Millisecond))
			}},
		{Name: "all-namespaces", What: "it hears of all namespaces, and writes in one", Right: "main.go: --namespace, and informer/foo.go",
			atEnd: func(g *Glass) (all []string) {
				f := g.findings
				for _, kind := range slices.Sorted(maps.Keys(f.heard)) {
					others := maps.Clone(f.heard[kind])
					maps.DeleteFunc(others, func(namespace string, _ bool) bool { return f.written[namespace] })
					if len(f.written) == 1 && len(others) > 0 {
						all = append(all, fmt.Sprintf("%s of %d other namespaces came; all writes are in %s", kind, len(others), slices.Collect(maps.Keys(f.written))[0]))
					}
				}
				return all
			}},
		{Name: "all-secrets", What: "it holds the Secrets of all namespaces in memory", Right: "chapters/cache/README.md: what each way to keep Secrets costs",
			inAnswer: func(_ *findings, a *answer) string {
				return said(a.isFromStart() && a.resource == "secrets" && a.Namespace == "" && !a.selects && !a.partial && !a.seen, "%s", a)
			}},
		{Name: "no-owner", What: "what it created has no owner reference, and is left when its owner is gone", Right: "controller/foo/deployment.go: newDeployment sets the controller reference in the first write",
			atEnd: func(g *Glass) (all []string) {
				for _, pair := range g.findings.unowned {
					if child, owner := g.world.at(pair[0]), g.world.at(pair[1]); child != nil && owner == nil {
						all = append(all, fmt.Sprintf("%s was created because of %s, which is gone", child, pair[1]))
					}
				}
				return all
			}},
		{Name: "finalizer-left", What: "a finalizer of its own holds an object that was deleted", Right: "chapters/finalizer/README.md: what must be so before it is removed",
			atEnd: func(g *Glass) (all []string) {
				for _, o := range g.findings.held {
					if held := time.Since(o.DeletionTimestamp.Time); held > heldFor {
						all = append(all, fmt.Sprintf("%s was deleted %s before the end, and has the finalizers %s", o, ago(held), strings.Join(o.Finalizers, ", ")))
					}
				}
				return all
			}},
		{Name: "unused-right", What: "its role gives a right that it did not use", Right: "config/rbac/role.yaml: each rule has the line that needs it",
			atEnd: func(g *Glass) []string { return g.role.unused() }},
	}
}

// said returns the words if something is so.
func said(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// isDone reports whether the API server has done it.
func (w *write) isDone() bool { return w.code != 0 && w.code < http.StatusBadRequest }

// version is a version of the object that is written.
func (w *write) version(number string) string { return w.resource + " " + w.now.key() + " " + number }

func (w *write) undoer() string {
	if w.cause == nil {
		return ""
	}
	return cmp.Or(w.cause.by, "somebody")
}
