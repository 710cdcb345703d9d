package look

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
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

// The findings.
const (
	noOp      = "no-op-write"
	uncaused  = "write-without-cause"
	loop      = "loop"
	fight     = "fight"
	haste     = "own-conflict"
	steady    = "steady-retry"
	relist    = "relist"
	short     = "short-watch"
	listed    = "list-of-watched"
	got       = "get-of-watched"
	limited   = "client-limit"
	wide      = "all-namespaces"
	secrets   = "all-secrets"
	orphan    = "no-owner"
	finalizer = "finalizer-left"
)

// table says what each is, and what does it right.
var table = []Finding{
	{Name: noOp, What: "a write that changed nothing", Right: "controller/foo/status.go: updateStatus compares before it writes"},
	{Name: uncaused, What: "a write of an object although nothing that is seen had changed since its last one: a time stamp, the order of a map, a default compared with nil?", Right: "controller/foo/deployment.go: differs compares the fields that the program sets, and no other"},
	{Name: loop, What: "the event of its own write led to the same write again, more than twice in a row", Right: "controller/foo/status.go: the status is computed from the current state, and is the same if that is"},
	{Name: fight, What: "another client undid what it wrote, and it wrote the same again, more than twice in a row", Right: "controller/failures.go: a write that did not stick has failed, and waits for its back-off"},
	{Name: haste, What: "a 409 by its own haste: it wrote from a version that its own write had replaced", Right: "controller/readyourwrites.go: no write from a cache that does not show the last one"},
	{Name: steady, What: "the same refusal again and again, without a growing pause", Right: "controller/queue.go: each failure doubles the pause of its key"},
	{Name: relist, What: "a list from the beginning, which no 410 asked for", Right: "informer/informer.go: a watch that ends is opened again from the last version"},
	{Name: short, What: "a watch that ends within a second, twice and more in a row", Right: "informer/informer.go: one watch stays open for minutes"},
	{Name: listed, What: "a list without a limit of what it watches anyway", Right: "informer/informer.go: the store has what the watch told"},
	{Name: got, What: "a GET that told what its own watch had told; before a write that cannot be undone it may be meant", Right: "controller/foo/reconcile.go: reads the stores"},
	{Name: limited, What: "requests with the same pause between them: this looks like a limit of the client", Right: "kit/connect/connect.go: Limit is one for all clients, and high"},
	{Name: wide, What: "it hears of all namespaces, and writes in one", Right: "main.go: --namespace, and informer/foo.go"},
	{Name: secrets, What: "it holds the Secrets of all namespaces in memory", Right: "chapters/cache/README.md: what each way to keep Secrets costs"},
	{Name: orphan, What: "what it created has no owner reference, and is left when its owner is gone", Right: "controller/foo/deployment.go: newDeployment sets the controller reference in the first write"},
	{Name: finalizer, What: "a finalizer of its own holds an object that was deleted", Right: "chapters/finalizer/README.md: what must be so before it is removed"},
}

const (
	mostRequests = 5                // that are kept of one finding
	inRow        = 2                // times that are no finding yet
	longPause    = 10 * time.Second // between tries is no haste
	shortWatch   = time.Second
	mostPaced    = 8 // requests with the same pause between them are no chance
	heldFor      = 10 * time.Second
)

// reading is what is listed and watched by one path, with the same selectors.
type reading struct {
	target
	open, short   int // watches that are open; that were short in a row
	seen, expired bool
	selects       bool
}

// pace is that of the requests to one API group, which share a client and its limit.
type pace struct {
	began, ended time.Time
	gap          time.Duration
	same         int
}

// findings is what is known to judge by. It is for one caller at a time.
type findings struct {
	all      map[string]*Finding
	began    time.Time
	causes   map[string]int // of writes
	readings map[string]*reading
	open     int       // watches
	idle     time.Time // when the last one ended
	paces    map[string]*pace
	written  map[string]bool            // namespaces
	heard    map[string]map[string]bool // namespaces, by kind, where all are watched
	own      map[string]bool            // finalizers
	held     map[string]*object         // by what was a finalizer of the program
	unowned  map[string][2]*object      // what was created, and because of what
}

func newFindings(allowed []string) (*findings, error) {
	f := &findings{all: map[string]*Finding{}, began: time.Now(), causes: map[string]int{}, readings: map[string]*reading{}, paces: map[string]*pace{},
		written: map[string]bool{}, heard: map[string]map[string]bool{}, own: map[string]bool{}, held: map[string]*object{}, unowned: map[string][2]*object{}}
	var names []string
	for _, one := range table {
		names = append(names, one.Name)
		f.all[one.Name] = &one
	}
	for _, name := range allowed {
		if f.all[name] == nil {
			return nil, fmt.Errorf("--allow %s: there is no such finding: give one of %s", name, strings.Join(names, ", "))
		}
		delete(f.all, name)
	}
	return f, nil
}

// find counts a finding, unless it is allowed.
func (g *Glass) find(at time.Time, name, format string, args ...any) {
	f := g.findings.all[name]
	if f == nil {
		return
	}
	if f.Count++; f.Count <= mostRequests {
		request := fmt.Sprintf(format, args...)
		f.Requests = append(f.Requests, request)
		g.story.line(at, "finding", name+": "+request)
		g.Program(trace.Said, "%s: %s", name, request)
	}
}

// judge looks at a write, and returns what the next one of the same is compared with.
func (g *Glass) judge(n note, from string, before, about *object, last, now attempt) attempt {
	g.findings.causes[now.why]++
	isDone := n.code != 0 && n.code < http.StatusBadRequest
	isNoOp := isDone && (n.method == http.MethodPut || n.method == http.MethodPatch) && before != nil && before.version == about.version
	if !last.began.IsZero() {
		now.pause = now.began.Sub(last.began)
	}
	switch {
	case now.why == byEcho:
		now.echoes = last.echoes + 1
	case now.why == again && now.failed == last.failed && now.pause <= last.pause*6/5 && now.pause < longPause:
		now.steady = last.steady + 1
	case now.why == byEvent && isDone && now.changed != "" && now.changed == last.changed && now.cause.object.uid == about.uid:
		now.undone = last.undone + 1
	}
	switch {
	case isNoOp:
		g.find(n.Time, noOp, "%s", n.Text)
	case isDone && now.why == byNobody && last.why == byNobody && last.failed == "" && now.changed != "":
		// A single one may come of an event that came before the last one was sent, while that waited.
		g.find(n.Time, uncaused, "%s, %s after the last one", n.Text, ago(now.pause))
	}
	if now.echoes > inRow {
		g.find(n.Time, loop, "%s, %d times in a row", n.Text, now.echoes)
	}
	if now.undone >= inRow {
		g.find(n.Time, fight, "%s, %d times in a row; undone by %s", n.Text, now.undone+1, cmp.Or(now.cause.by, "somebody"))
	}
	if now.steady > inRow {
		g.find(n.Time, steady, "%s, %d times with a pause of %s", n.Text, now.steady+2, ago(now.pause))
	}
	version := n.resource + " " + about.key + " "
	if _, own := g.world.old.Get(version + from); own && now.failed == "409 Conflict" {
		g.find(n.Time, haste, "%s, from version %s", n.Text, from)
	}
	if isDone && before != nil && !isNoOp {
		g.world.old.Add(version+cmp.Or(from, before.version), nil)
		for _, name := range about.finalizers {
			g.findings.own[name] = g.findings.own[name] || !slices.Contains(before.finalizers, name)
		}
	}
	if isDone && n.namespace != "" {
		g.findings.written[n.namespace] = true
	}
	if isDone && n.method == http.MethodPost && about.owner == "" && now.cause != nil && now.cause.object.uid != about.uid {
		g.findings.unowned[string(about.uid)] = [2]*object{about, now.cause.object}
	}
	return now
}

// hear looks at an object that the program was told of.
func (f *findings) hear(o *object, isDeleted bool) {
	if o.target.namespace == "" && o.namespace != "" {
		if f.heard[o.kind] == nil {
			f.heard[o.kind] = map[string]bool{}
		}
		f.heard[o.kind][o.namespace] = true
	}
	delete(f.held, string(o.uid))
	if !isDeleted && !o.deleted.IsZero() && slices.ContainsFunc(o.finalizers, func(name string) bool { return f.own[name] }) {
		f.held[string(o.uid)] = o
	}
}

// watched returns whether a watch of everything that a request is about is open.
func (f *findings) watched(t target) bool {
	for _, r := range f.readings {
		if r.open > 0 && !r.selects && r.resource == t.resource && (r.namespace == "" || r.namespace == t.namespace) {
			return true
		}
	}
	return false
}

// reads looks at lists, watches and GETs, and at when requests are sent.
func (g *Glass) reads(n note, body map[string]any) {
	f, line := g.findings, n.method+" "+n.path
	if n.What == trace.Answered || n.What == trace.Listed {
		_, group, _ := strings.Cut(n.resource, ".")
		if f.paces[group] == nil {
			f.paces[group] = &pace{}
		}
		if p := f.paces[group]; p.next(n) {
			g.find(n.Time, limited, "%d requests in %s, the last is %s: one each %s", mostPaced, (mostPaced * p.gap).Round(time.Millisecond), line, p.gap.Round(time.Millisecond))
		}
	}
	if n.What == trace.Answered && !n.isWrite() && n.subresource == "" {
		if known := g.world.known(n.target, keyOf(n.namespace, n.name)); n.code == http.StatusOK && known != nil && known.version == text(body, "metadata", "resourceVersion") && f.watched(n.target) {
			g.find(n.Time, got, "%s", line)
		}
	}
	if !n.list && !n.watch {
		return
	}
	if f.open == 0 && !f.idle.IsZero() && n.began.Sub(f.idle) > 2*shortWatch {
		clear(f.readings) // A program that was started anew lists anew.
	}
	selector := n.query.Get("labelSelector") + " " + n.query.Get("fieldSelector")
	r := f.readings[n.path+" "+selector]
	if r == nil {
		r = &reading{target: n.target, selects: selector != " "}
		f.readings[n.path+" "+selector] = r
	}
	isFromStart := n.What == trace.Opened && n.query.Get("sendInitialEvents") == "true" || n.What == trace.Listed && n.query.Get("continue") == ""
	switch {
	case !isFromStart:
	case !n.watch && n.query.Get("limit") == "" && f.watched(n.target):
		g.find(n.Time, listed, "LIST %s", n.path)
	case r.seen && !r.expired && r.open == 0:
		g.find(n.Time, relist, "%s %s", map[bool]string{true: "WATCH", false: "LIST"}[n.watch], n.path)
	}
	if isFromStart {
		r.expired = false
		if n.resource == "secrets" && n.namespace == "" && !r.selects && !n.partial && !r.seen {
			g.find(n.Time, secrets, "%s", line)
		}
	}
	switch {
	case n.What == trace.Opened:
		r.seen, r.open = true, r.open+1
		f.open++
	case n.What == trace.Received && text(body, "type") == "ERROR" || n.code == http.StatusGone:
		r.expired = true
	case n.What == trace.Ended:
		r.open--
		if f.open--; f.open == 0 {
			f.idle = n.Time
		}
		if r.short++; n.Time.Sub(n.began) > shortWatch || r.expired {
			r.short = 0
		}
		if r.short >= inRow {
			g.find(n.Time, short, "WATCH %s ended after %s, %d times in a row", n.path, ago(n.Time.Sub(n.began)), r.short)
		}
	}
}

// next notes a request, and returns true for the last of many with the same pause between them, in
// which the client did nothing.
func (p *pace) next(n note) bool {
	gap, idle := n.began.Sub(p.began), n.began.Sub(p.ended)
	if p.same++; gap < 20*time.Millisecond || gap > time.Second || idle < gap/2 || (gap-p.gap).Abs() > gap/6 {
		p.same = 0
	}
	p.began, p.ended, p.gap = n.began, n.Time, gap
	if p.same == mostPaced {
		p.same = 0
		return true
	}
	return false
}

// finish looks at what is left, and prints all findings.
func (g *Glass) finish() {
	f, now := g.findings, time.Now()
	for _, pair := range f.unowned {
		child, owner := g.world.at(pair[0]), g.world.at(pair[1])
		if child != nil && owner == nil {
			g.find(now, orphan, "%s was created because of %s, which is gone", child.name(), pair[1].name())
		}
	}
	for _, o := range f.held {
		if now.Sub(o.deleted) > heldFor {
			g.find(now, finalizer, "%s was deleted %s before the end, and has the finalizers %s", o.name(), ago(now.Sub(o.deleted)), strings.Join(o.finalizers, ", "))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(f.heard)) {
		others := maps.Clone(f.heard[kind])
		maps.DeleteFunc(others, func(namespace string, _ bool) bool { return f.written[namespace] })
		if len(f.written) == 1 && len(others) > 0 {
			g.find(now, wide, "%s of %d other namespaces came; all writes are in %s", kind, len(others), slices.Collect(maps.Keys(f.written))[0])
		}
	}
	for _, one := range g.Findings() {
		g.story.line(now, "finding", fmt.Sprintf("%d × %s: %s. Right: %s", one.Count, one.Name, one.What, one.Right))
	}
}

// Findings are those that there were. It may be called after Close.
func (g *Glass) Findings() []Finding {
	all := []Finding{}
	for _, one := range table {
		if f := g.findings.all[one.Name]; f != nil && f.Count > 0 {
			all = append(all, *f)
		}
	}
	return all
}

// Report writes as JSON what was found, and how many writes had which cause. It may be called after
// Close.
func (g *Glass) Report(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		Began    time.Time      `json:"began"`
		Ended    time.Time      `json:"ended"`
		Causes   map[string]int `json:"causes"`
		Findings []Finding      `json:"findings"`
	}{g.findings.began, time.Now(), g.findings.causes, g.Findings()})
}
