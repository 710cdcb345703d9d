package proxy

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/observe/trace"
)

var table = []Finding{
	{Name: "no-op-write", What: "a write that changed nothing",
		Advice: "Compare the desired object with the cached one before you write, and treat fields that the API server sets by default as equal. See controller/foo/status.go: updateStatus"},
	{Name: "timestamp-write", What: "a write that changed time stamps only",
		Advice: "Change a time stamp only together with its value, as meta.SetStatusCondition does. See controller/foo/status.go: condition"},
	{Name: "loop", What: "each write was caused by the event of the write before it, and changed the same fields",
		Advice: "Compute the object from the current state only, with no clock, counter or random order, and skip the write if nothing differs. See controller/foo/status.go: updateStatus"},
	{Name: "fight", What: "another client undid a write, and the program repeated it, more than twice in a row",
		Advice: "Agree on one writer for the field, for example with server-side apply, and back off when a write is undone. See controller/rewrites.go"},
	{Name: "own-conflict", What: "a 409 after its own write: the request had a resourceVersion from before that write",
		Advice: "Use the object that the last write returned, or wait until the cache shows that write. See controller/readyourwrites.go"},
	{Name: "steady-retry", What: "one write was rejected again and again, without a growing pause",
		Advice: "Return the error, or use AddRateLimited, so that each failure doubles the pause of the key. See controller/queue.go"},
	{Name: "never-retried", What: "a rejected write that was not repeated",
		Advice: "Return the error from the reconcile, so that the key is requeued with a back-off. See controller/controller.go"},
	{Name: "relist", What: "a new list, although no 410 required it",
		Advice: "When a watch ends, open it again at the last version that it delivered. See informer/informer.go"},
	{Name: "short-watch", What: "a watch that ended within a second, twice or more in a row",
		Advice: "Keep one watch open for minutes: check timeouts of the client and of proxies, and the lifetime of the context. See informer/informer.go"},
	{Name: "list-of-watched", What: "a list of objects that a watch delivers already",
		Advice: "Read from the informer's cache. See informer/informer.go"},
	{Name: "get-of-watched", What: "a GET that returned what the watch had delivered already",
		Advice: "Read from the informer's cache. As the last check before a delete the GET is fine: use --allow. See controller/foo/reconcile.go"},
	{Name: "repeated-list", What: "the same list at least ten times in a minute, and no watch of the resource",
		Advice: "Start an informer for the resource, with an index for the selector, and read from its cache. See informer/deployment.go"},
	{Name: "client-limit", What: "requests at equal intervals, as if a client-side rate limit delayed them",
		Advice: "Raise QPS and Burst of rest.Config, and share one limiter among the clients. See kit/connect/connect.go: Limit"},
	{Name: "all-secrets", What: "the program keeps the Secrets of all namespaces in memory",
		Advice: "Watch the metadata only, select by label or namespace, or read single Secrets. See chapters/cache/README.md"},
	{Name: "no-owner", What: "a created object has no owner reference, and outlives the object that caused its creation",
		Advice: "Set the controller reference in the request that creates the object, so that the garbage collector deletes it. See controller/foo/deployment.go: newDeployment"},
	{Name: "finalizer-left", What: "a deleted object remains, because the program did not remove its finalizer",
		Advice: "Remove the finalizer as soon as the cleanup is done, also when there is nothing to clean up. See chapters/finalizer/README.md"},
	{Name: "unused-permission", What: "the role grants a permission that the program did not use in this run",
		Advice: "Remove the permission, or run the case that needs it. See config/rbac/role.yaml"},
}

const (
	inRow      = 2                      // consecutive occurrences that a finding needs; loop and steady-retry: one more
	inLoop     = 10                     // writes in a row that are too many for progress in steps
	longPause  = 10 * time.Second       // from this pause on, a retry is slow enough
	shortPause = 200 * time.Millisecond // below this, a busy machine hides the growth of a back-off: inLoop retries
	shortWatch = time.Second
	mostPaced  = 8 // requests with the same pause that are no coincidence
	mostPolls  = 10
	heldFor    = 10 * time.Second
	noRetry    = 30 * time.Second // for never-retried, if also longer than three times the last pause
)

func (x *exchange) place() string {
	return strings.ToUpper(x.Verb()) + " " + path.Join(x.resource, x.Target.Subresource)
}

func (p *Proxy) judgeWrite(w *write) {
	f, place := p.findings, w.place()
	isDone := w.failed == ""
	isForeign := w.cause != nil && !w.cause.Echo && w.cause.object.UID == w.now.UID
	isEcho := w.cause != nil && w.cause.Echo && w.last.now != nil && w.cause.Version == w.last.now.ResourceVersion && w.cause.object.UID == w.now.UID
	w.echoes = row(isEcho && w.fields != "" && w.fields == w.last.fields, w.last.echoes)
	w.undone = row(isForeign && isDone && w.changed != "" && w.changed == w.last.changed, w.last.undone)
	mostEchoes := inLoop
	if w.changed == w.last.changed || strings.HasPrefix(w.changed, otherOrder) {
		mostEchoes = inRow + 1
	}
	by := "another client"
	if isForeign {
		by = cmp.Or(w.cause.by, by)
	}
	w.steady = row(w.isRetry && w.failed == w.last.failed && w.pause <= w.last.pause*6/5 && w.pause < longPause, w.last.steady)
	mostSteady := inRow + 1
	if w.pause < shortPause {
		mostSteady = inLoop
	}
	isHasty := w.failed == "409 Conflict" && isOlder(w.sent.ResourceVersion, p.world.made.of(w.resource+" "+w.now.key()))
	p.found("no-op-write", w.noOp && w.Method != http.MethodDelete, place, "%s", w.Text)
	p.found("timestamp-write", isDone && w.onlyTimes, place, "%s", w.Text)
	p.found("loop", w.echoes >= mostEchoes, place, "%s, %d times in a row", w.Text, w.echoes)
	p.found("fight", w.undone >= inRow, place, "%s, %d times in a row; undone by %s", w.Text, w.undone+1, by)
	p.found("own-conflict", isHasty, place, "%s; sent with resourceVersion %s", w.Text, w.sent.ResourceVersion)
	p.found("steady-retry", w.steady >= mostSteady, place, "%s, %d times with a pause of %s", w.Text, w.steady+2, ago(w.pause))
	delete(f.rejected, w.key())
	if w.code >= http.StatusBadRequest && !isDone && w.code != http.StatusConflict && w.code != http.StatusNotFound && len(f.rejected) < mostObjects {
		f.rejected[w.key()] = w
	}
	counts := f.counts(w.resource)
	counts.Writes++
	if w.noOp {
		counts.NoOps++
	}
	if w.code == http.StatusConflict {
		counts.Conflicts++
	}
	if isDone {
		f.learn(w)
	}
}

// judgeRejected reports rejected writes that were not repeated: of o, or of all objects if o is nil.
func (p *Proxy) judgeRejected(o *object) {
	for key, w := range p.findings.rejected {
		passed := p.now.Sub(w.At)
		if o != nil && (o.resource != w.resource || o.key() != w.now.key()) {
			continue
		}
		delete(p.findings.rejected, key)
		p.found("never-retried", passed > noRetry && passed > 3*w.pause, w.place(), "%s; not repeated within %s", w.Text, passed.Round(time.Second))
	}
}

func (p *Proxy) judgeRead(n note) {
	f := p.findings
	s := f.stream(n)
	isWatched := f.isWatched(n, n.partial)
	s.expired = s.expired || n.Step.Request.Event == string(watch.Error) || n.code == http.StatusGone
	took := n.Time.Sub(n.At)
	if n.What == trace.Ended {
		s.open, s.ended = s.open-1, n.Time
		s.short = row(took <= shortWatch && !s.expired, s.short)
	}
	isList := n.What == trace.Listed && n.Query.Get("continue") == ""
	isWhole := isList || n.What == trace.Opened && n.Query.Get("sendInitialEvents") == "true"
	isExtra := isList && n.Query.Get("limit") == "" && isWatched
	// A restarted program also lists again, but takes longer.
	isAgain := isWhole && !isExtra && !s.expired && s.open == 0 && n.At.Sub(s.ended) < 2*shortWatch
	isSame := false
	if n.What == trace.Answered && !n.isWrite() {
		f.counts(n.resource).GETs++
		known := p.world.known(n.resource, n.objectKey())
		isSame = n.Target.Subresource == "" && n.code == http.StatusOK && isWatched && known != nil && known.ResourceVersion == n.Version
	}
	if isList {
		f.counts(n.resource).Lists++
		if n.At.Sub(s.polled) > time.Minute {
			s.polls, s.polled = 0, n.At
		}
		s.polls = row(!f.isWatched(n, true), s.polls)
	}
	pause, isPaced := f.paced(n)
	isAll := n.Target.Namespace == "" && n.selector() == "" && !n.partial
	p.found("relist", isAgain, n.place(), "%s", n)
	p.found("short-watch", n.What == trace.Ended && s.short >= inRow, n.place(), "%s ended after %s, %d times in a row", n, ago(took), s.short)
	p.found("list-of-watched", isExtra, n.place(), "%s", n)
	p.found("get-of-watched", isSame, n.place(), "%s", n)
	p.found("repeated-list", isList && s.polls >= mostPolls, n.place(), "%s, %d times", n, s.polls)
	p.found("client-limit", isPaced, n.place(), "%d requests in %s, the last %s: one every %s", mostPaced, ago(mostPaced*pause), n, ago(pause))
	p.found("all-secrets", isWhole && isAll && n.resource == "secrets", n.place(), "%s", n)
	if isWhole {
		s.expired = false
	}
	if n.What == trace.Opened {
		s.open++
	}
}

// finish logs the remaining steps, reports the findings that need the end of the run, and lists all
// findings.
func (p *Proxy) finish() {
	p.Observer.Close()
	f := p.findings
	isThere := func(o *object) bool {
		last := p.world.known(o.resource, o.key())
		return last != nil && last.UID == o.UID
	}
	p.judgeRejected(nil)
	for _, pair := range f.unowned {
		child, owner := pair[0], pair[1]
		p.found("no-owner", isThere(child) && !isThere(owner), "CREATE "+child.resource, "%s was created because of %s, which is gone", child, owner)
	}
	for _, o := range f.held {
		held := p.now.Sub(o.DeletionTimestamp.Time)
		p.found("finalizer-left", held > heldFor, "DELETE "+o.resource, "%s was deleted %s before the end, and still has the finalizers %s", o, ago(held), strings.Join(o.Finalizers, ", "))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, unused := range p.unused {
		isAsked := !strings.HasSuffix(unused.resource, "/finalizers") // No request needs this permission.
		p.found("unused-permission", isAsked, fmt.Sprint(unused), "%s %s in the API group %s", unused.verb, unused.resource, cmp.Or(unused.group, `""`))
	}
	for _, one := range p.Findings() {
		var places []string
		for _, place := range slices.Sorted(maps.Keys(one.Places)) {
			places = append(places, fmt.Sprintf("%s: %d", place, one.Places[place]))
		}
		p.remark("finding", "%d × %s (%s): %s. %s", one.Count, one.Name, strings.Join(places, ", "), one.What, one.Advice)
	}
	for _, resource := range slices.Sorted(maps.Keys(f.summary)) {
		c := f.summary[resource]
		p.remark("summary", "%s: %d writes (%d %% changed nothing), %d lists, %d GETs, %d conflicts", resource, c.Writes, 100*c.NoOps/max(c.Writes, 1), c.Lists, c.GETs, c.Conflicts)
	}
	p.Observer.Close() // This publishes the remarks.
}
