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

// Finding is what is wasted or wrong, and the requests that show it.
type Finding struct {
	Name string `json:"name"`
	What string `json:"what"`
	// Right is the file of this repository that does it right.
	Right    string   `json:"right"`
	Count    int      `json:"count"`
	Requests []string `json:"requests"` // the first ones
}

// table has all findings that there can be.
var table = []Finding{
	{Name: "no-op-write", What: "a write that changed nothing", Right: "controller/foo/status.go: updateStatus compares before it writes"},
	{Name: "write-without-cause", What: "a write of an object although nothing that is seen had changed since its last one: a time stamp, the order of a list or a map, a default compared with nil?", Right: "controller/foo/deployment.go: differs compares the fields that the program sets, and no other"},
	{Name: "loop", What: "the event of its own write led to the same write again, more than twice in a row", Right: "controller/foo/status.go: the status is computed from the current state, and is the same if that is"},
	{Name: "fight", What: "another client undid what it wrote, and it wrote the same again, more than twice in a row", Right: "controller/failures.go: a write that did not stick has failed, and waits for its back-off"},
	{Name: "own-conflict", What: "a 409 by its own haste: it wrote from a version that its own write had replaced", Right: "controller/readyourwrites.go: no write from a cache that does not show the last one"},
	{Name: "steady-retry", What: "the same refusal again and again, without a growing pause", Right: "controller/queue.go: each failure doubles the pause of its key"},
	{Name: "relist", What: "a list from the beginning, which no 410 asked for", Right: "informer/informer.go: a watch that ends is opened again from the last version"},
	{Name: "short-watch", What: "a watch that ends within a second, twice and more in a row", Right: "informer/informer.go: one watch stays open for minutes"},
	{Name: "list-of-watched", What: "a list without a limit of what it watches anyway", Right: "informer/informer.go: the store has what the watch told"},
	{Name: "get-of-watched", What: "a GET that told what its own watch had told; before a write that cannot be undone it may be meant", Right: "controller/foo/reconcile.go: reads the stores"},
	{Name: "client-limit", What: "requests with the same pause between them: this looks like a limit of the client", Right: "kit/connect/connect.go: Limit is one for all clients, and high"},
	{Name: "all-namespaces", What: "it hears of all namespaces, and writes in one", Right: "main.go: --namespace, and informer/foo.go"},
	{Name: "all-secrets", What: "it holds the Secrets of all namespaces in memory", Right: "chapters/cache/README.md: what each way to keep Secrets costs"},
	{Name: "no-owner", What: "what it created has no owner reference, and is left when its owner is gone", Right: "controller/foo/deployment.go: newDeployment sets the controller reference in the first write"},
	{Name: "finalizer-left", What: "a finalizer of its own holds an object that was deleted", Right: "chapters/finalizer/README.md: what must be so before it is removed"},
	{Name: "unused-right", What: "its role gives a right that it did not use", Right: "config/rbac/role.yaml: each rule has the line that needs it"},
}

const (
	inRow      = 2                // times that are no finding yet
	longPause  = 10 * time.Second // between tries is no haste
	shortWatch = time.Second
	mostPaced  = 8 // requests with the same pause between them are no chance
	heldFor    = 10 * time.Second
)

// said returns the words if something is so, else "": nothing is found.
func said(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// inWrite says what is found in a write, by the name of the finding.
func (f *findings) inWrite(w *write) map[string]string {
	echoes := f.inRow("echo "+w.key(), w.why == byEcho)
	isUndone := w.why == byEvent && w.isDone() && w.changed != "" && w.changed == w.last.changed && w.cause.object.UID == w.now.UID
	undone, by := f.inRow("undone "+w.key(), isUndone), ""
	if isUndone {
		by = cmp.Or(w.cause.by, "somebody")
	}
	steady := f.inRow("steady "+w.key(), w.why == again && w.failed == w.last.failed && w.pause <= w.last.pause*6/5 && w.pause < longPause)
	// A single one may come of an event that came before the last one was sent, while that waited.
	isUncaused := w.why == byNobody && w.last.why == byNobody && w.last.failed == ""
	return map[string]string{
		"no-op-write":         said(w.noOp && w.method != http.MethodDelete, "%s", w.Text),
		"write-without-cause": said(isUncaused && w.isDone() && !w.noOp && w.changed != "", "%s, %s after the last one", w.Text, ago(w.pause)),
		"loop":                said(echoes > inRow, "%s, %d times in a row", w.Text, echoes),
		"fight":               said(undone >= inRow, "%s, %d times in a row; undone by %s", w.Text, undone+1, by),
		"own-conflict":        said(w.failed == "409 Conflict" && f.world.old.of(w.version(w.from)), "%s, from version %s", w.Text, w.from),
		"steady-retry":        said(steady > inRow, "%s, %d times with a pause of %s", w.Text, steady+2, ago(w.pause)),
	}
}

// inAnswer says what is found in whatever was answered.
func (f *findings) inAnswer(a *answer) map[string]string {
	isWhole := a.What == trace.Opened && a.query.Get("sendInitialEvents") == "true" || a.What == trace.Listed && a.query.Get("continue") == ""
	isExtra := isWhole && a.list && a.query.Get("limit") == "" && a.isWatched
	isSame := false
	if a.What == trace.Answered && !a.isWrite() && a.Subresource == "" && a.code == http.StatusOK && a.isWatched {
		known := f.world.known(a.resource, keyOf(a.Namespace, a.Name))
		isSame = known != nil && known.ResourceVersion == text(a.body, "metadata", "resourceVersion")
	}
	pause, isPaced := f.paced(a)
	took := a.Time.Sub(a.began)
	found := map[string]string{
		"relist":          said(isWhole && !isExtra && a.seen && !a.expired && a.open == 0, "%s", a),
		"short-watch":     said(a.What == trace.Ended && a.short >= inRow, "%s ended after %s, %d times in a row", a, ago(took), a.short),
		"list-of-watched": said(isExtra, "%s", a),
		"get-of-watched":  said(isSame, "%s", a),
		"client-limit":    said(isPaced, "%d requests in %s, the last is %s: one each %s", mostPaced, ago(mostPaced*pause), a, ago(pause)),
		"all-secrets":     said(isWhole && a.resource == "secrets" && a.Namespace == "" && !a.selects && !a.partial && !a.seen, "%s", a),
	}
	if isWhole {
		a.expired = false
	}
	return found
}

// atEnd finds what is left.
func (g *Glass) atEnd(now time.Time) {
	f := g.findings
	add := func(name, format string, args ...any) {
		g.found(map[string]string{name: fmt.Sprintf(format, args...)})
	}
	isThere := func(o *object) bool {
		last := f.world.known(o.resource, o.key())
		return last != nil && last.UID == o.UID
	}
	for _, kind := range slices.Sorted(maps.Keys(f.heard)) {
		others := maps.Clone(f.heard[kind])
		maps.DeleteFunc(others, func(namespace string, _ bool) bool { return f.written[namespace] })
		if len(f.written) == 1 && len(others) > 0 {
			add("all-namespaces", "%s of %d other namespaces came; all writes are in %s", kind, len(others), slices.Collect(maps.Keys(f.written))[0])
		}
	}
	for _, pair := range f.unowned {
		if child, owner := pair[0], pair[1]; isThere(child) && !isThere(owner) {
			add("no-owner", "%s was created because of %s, which is gone", child, owner)
		}
	}
	for _, o := range f.held {
		if held := now.Sub(o.DeletionTimestamp.Time); held > heldFor {
			add("finalizer-left", "%s was deleted %s before the end, and has the finalizers %s", o, ago(held), strings.Join(o.Finalizers, ", "))
		}
	}
	g.role.mu.Lock()
	defer g.role.mu.Unlock()
	for _, right := range g.role.unused {
		if !strings.HasSuffix(right.resource, "/finalizers") { // No request asks for that.
			add("unused-right", "%s %s in the API group %s", right.verb, right.resource, cmp.Or(right.group, `""`))
		}
	}
}

// isDone reports whether the API server has done it.
func (w *write) isDone() bool { return w.code != 0 && w.code < http.StatusBadRequest }

// version is a version of the object that is written.
func (w *write) version(number string) string { return w.resource + " " + w.now.key() + " " + number }
