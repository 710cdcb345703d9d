package proxy

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/observe/wire"
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
	{Name: "write-without-cause", What: "a write of an object although nothing that is seen had changed since its last one: a time stamp, the order of a list or a map, a default compared with nil?", Right: "controller/foo/deployment.go: differences compares only the fields that the program sets"},
	{Name: "loop", What: "the event of its own write led to the same write again, more than twice in a row", Right: "controller/foo/status.go: the status is computed from the current state, and is the same if that is"},
	{Name: "fight", What: "another client undid what it wrote, and it wrote the same again, more than twice in a row", Right: "controller/rewrites.go: a repeated write is an error, so the key backs off"},
	{Name: "own-conflict", What: "a 409 by its own haste: it wrote from a version that its own write had replaced", Right: "controller/readyourwrites.go: no write from a cache that does not show the last one"},
	{Name: "steady-retry", What: "the same refusal again and again, without a growing pause", Right: "controller/queue.go: each failure doubles the pause of its key"},
	{Name: "relist", What: "a list from the beginning, which no 410 asked for", Right: "informer/informer.go: a watch that ends is opened again from the last version"},
	{Name: "short-watch", What: "a watch that ends within a second, twice and more in a row", Right: "informer/informer.go: one watch stays open for minutes"},
	{Name: "list-of-watched", What: "a list without a limit of what it watches anyway", Right: "informer/informer.go: the store has what the watch told"},
	{Name: "get-of-watched", What: "a GET that told what its own watch had told; before a write that cannot be undone it may be meant", Right: "controller/foo/reconcile.go: reads the stores"},
	{Name: "client-limit", What: "requests with the same pause between them: this looks like a limit of the client", Right: "kit/connect/connect.go: Limit is one for all clients, and high"},
	{Name: "all-namespaces", What: "it hears of all namespaces, and writes in one", Right: "main.go: --namespace, and informer/foo.go"},
	{Name: "all-secrets", What: "it holds the Secrets of all namespaces in memory", Right: "chapters/cache/README.md: what each way to keep Secrets costs"},
	{Name: "no-owner", What: "what it created has no owner reference, and is left when its owner is gone", Right: "controller/foo/deployment.go: newDeployment sets the controller reference, from the first write on"},
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

// judgeWrite finds what is wasted or wrong in a write.
func (p *Proxy) judgeWrite(w *write) {
	f := p.findings
	isDone := w.failed == ""
	isEcho := w.cause != nil && w.cause.Echo
	w.echoes = row(isEcho, w.last.echoes)
	isUndone := w.cause != nil && !isEcho && isDone && w.changed != "" && w.changed == w.last.changed && w.cause.object.UID == w.now.UID
	w.undone = row(isUndone, w.last.undone)
	by := "somebody"
	if isUndone && w.cause.by != "" {
		by = w.cause.by
	}
	isRetry := w.cause == nil && !w.uncaused
	w.steady = row(isRetry && w.failed == w.last.failed && w.pause <= w.last.pause*6/5 && w.pause < longPause, w.last.steady)
	// A single one may come of an event that came before the last one was sent, while that waited.
	isUncaused := w.uncaused && w.last.uncaused && w.last.failed == ""
	isHasty := w.failed == "409 Conflict" && isOlder(w.from, p.world.made.of(w.resource+" "+w.now.key()))
	p.found("no-op-write", w.noOp && w.Method != http.MethodDelete, "%s", w.Text)
	p.found("write-without-cause", isUncaused && isDone && !w.noOp && w.changed != "", "%s, %s after the last one", w.Text, ago(w.pause))
	p.found("loop", w.echoes > inRow, "%s, %d times in a row", w.Text, w.echoes)
	p.found("fight", w.undone >= inRow, "%s, %d times in a row; undone by %s", w.Text, w.undone+1, by)
	p.found("own-conflict", isHasty, "%s, from version %s", w.Text, w.from)
	p.found("steady-retry", w.steady > inRow, "%s, %d times with a pause of %s", w.Text, w.steady+2, ago(w.pause))
	if isDone {
		f.learn(w)
	}
}

// judgeRead finds what is wasted or wrong in what was read; event is the type of one.
func (p *Proxy) judgeRead(n note, event watch.EventType) {
	f := p.findings
	r, isWatched := f.reading(n), f.isWatched(n)
	r.expired = r.expired || event == watch.Error || n.code == http.StatusGone
	took := n.Time.Sub(n.At)
	if n.What == trace.Ended {
		r.open, r.ended = r.open-1, n.Time
		r.short = row(took <= shortWatch && !r.expired, r.short)
	}
	isWhole := n.What == trace.Opened && n.Query.Get("sendInitialEvents") == "true" || n.What == trace.Listed && n.Query.Get("continue") == ""
	isExtra := isWhole && n.isList() && n.Query.Get("limit") == "" && isWatched
	// A program that was started anew lists anew, and takes longer.
	isAgain := isWhole && !isExtra && !r.expired && r.open == 0 && n.At.Sub(r.ended) < 2*shortWatch
	isSame := false
	if n.What == trace.Answered && !n.isWrite() && n.Target.Subresource == "" && n.code == http.StatusOK && isWatched {
		known := p.world.known(n.resource, n.objectKey())
		isSame = known != nil && known.ResourceVersion == wire.Metadata(n.body).ResourceVersion
	}
	pause, isPaced := f.paced(n)
	isAll := n.Target.Namespace == "" && !r.selects && !n.partial
	p.found("relist", isAgain, "%s", n)
	p.found("short-watch", n.What == trace.Ended && r.short >= inRow, "%s ended after %s, %d times in a row", n, ago(took), r.short)
	p.found("list-of-watched", isExtra, "%s", n)
	p.found("get-of-watched", isSame, "%s", n)
	p.found("client-limit", isPaced, "%d requests in %s, the last is %s: one each %s", mostPaced, ago(mostPaced*pause), n, ago(pause))
	p.found("all-secrets", isWhole && isAll && n.resource == "secrets" && r.lists == 0, "%s", n)
	if isWhole {
		r.expired, r.lists = false, r.lists+1
	}
	if n.What == trace.Opened {
		r.open++
	}
}

// finish tells what is left to tell, finds what is left at the end, and names all findings.
func (p *Proxy) finish() {
	p.Observer.Close()
	f, now := p.findings, time.Now()
	isThere := func(o *object) bool {
		last := p.world.known(o.resource, o.key())
		return last != nil && last.UID == o.UID
	}
	for _, kind := range slices.Sorted(maps.Keys(f.heard)) {
		others := f.heard[kind].Difference(f.written).Len()
		p.found("all-namespaces", f.written.Len() == 1 && others > 0, "%s of %d other namespaces came; all writes are in %s", kind, others, strings.Join(sets.List(f.written), ", "))
	}
	for _, pair := range f.unowned {
		child, owner := pair[0], pair[1]
		p.found("no-owner", isThere(child) && !isThere(owner), "%s was created because of %s, which is gone", child, owner)
	}
	for _, o := range f.held {
		held := now.Sub(o.DeletionTimestamp.Time)
		p.found("finalizer-left", held > heldFor, "%s was deleted %s before the end, and has the finalizers %s", o, ago(held), strings.Join(o.Finalizers, ", "))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, right := range p.unused {
		isAsked := !strings.HasSuffix(right.resource, "/finalizers") // No request asks for that.
		p.found("unused-right", isAsked, "%s %s in the API group %s", right.verb, right.resource, cmp.Or(right.group, `""`))
	}
	for _, one := range p.Findings() {
		p.remark("finding", "%d × %s: %s. Right: %s", one.Count, one.Name, one.What, one.Right)
	}
	p.Observer.Close() // These are lines, too.
}
