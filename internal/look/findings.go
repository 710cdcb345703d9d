package look

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/byhand/internal/trace"
)

// mostRequests are kept of one finding.
const mostRequests = 5

// findings is what is known to judge by. It is for one caller at a time.
type findings struct {
	all      []*Finding // without those that are allowed
	world    *world
	began    time.Time
	causes   map[string]int // of writes
	rows     recent[int]    // how often something was so, one time after the other
	readings map[string]*reading
	open     int       // watches
	idle     time.Time // when the last one ended
	paces    map[string]pace
	written  map[string]bool            // namespaces
	heard    map[string]map[string]bool // namespaces, by kind, where all are watched
	own      map[string]bool            // finalizers
	held     map[string]*object         // by what was a finalizer of the program
	unowned  map[string][2]*object      // what was created, and because of what
}

func newFindings(w *world, allowed []string) (*findings, error) {
	f := &findings{world: w, began: time.Now(), causes: map[string]int{}, rows: newRecent[int](), readings: map[string]*reading{}, paces: map[string]pace{},
		written: map[string]bool{}, heard: map[string]map[string]bool{}, own: map[string]bool{}, held: map[string]*object{}, unowned: map[string][2]*object{}}
	var names []string
	for _, one := range table {
		if names = append(names, one.Name); !slices.Contains(allowed, one.Name) {
			f.all = append(f.all, &one)
		}
	}
	for _, name := range allowed {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--allow %s: there is no such finding: give one of %s", name, strings.Join(names, ", "))
		}
	}
	return f, nil
}

// found counts findings, unless they are allowed.
func (g *Glass) found(found map[string]string) {
	for _, f := range g.findings.all {
		request := found[f.Name]
		if request == "" {
			continue
		}
		if f.Count++; f.Count <= mostRequests {
			f.Requests = append(f.Requests, request)
			g.remark("finding", "%s: %s", f.Name, request)
		}
	}
}

// inRow returns how often something was so, one time after the other.
func (f *findings) inRow(what string, is bool) int {
	if !is {
		f.rows.Remove(what)
		return 0
	}
	f.rows.Add(what, f.rows.of(what)+1)
	return f.rows.of(what)
}

// judgeWrite looks at a write.
func (g *Glass) judgeWrite(w *write) {
	f := g.findings
	f.causes[w.why]++
	g.found(f.inWrite(w))
	if !w.isDone() {
		return
	}
	if w.before != nil && !w.noOp {
		f.world.old.Add(w.version(w.before.ResourceVersion), true)
		f.world.old.Add(w.version(w.from), true)
		for _, name := range w.now.Finalizers {
			f.own[name] = f.own[name] || !slices.Contains(w.before.Finalizers, name)
		}
	}
	if w.Namespace != "" {
		f.written[w.Namespace] = true
	}
	if w.method == http.MethodPost && len(w.now.OwnerReferences) == 0 && w.cause != nil && w.cause.object.UID != w.now.UID {
		f.unowned[string(w.now.UID)] = [2]*object{w.now, w.cause.object}
	}
}

// hear looks at an event that the program was told of.
func (f *findings) hear(n note, h happening) {
	o := h.object
	if n.Namespace == "" && o.Namespace != "" {
		if f.heard[o.Kind] == nil {
			f.heard[o.Kind] = map[string]bool{}
		}
		f.heard[o.Kind][o.Namespace] = true
	}
	delete(f.held, string(o.UID))
	if h.what != "was deleted" && o.DeletionTimestamp != nil && slices.ContainsFunc(o.Finalizers, func(name string) bool { return f.own[name] }) {
		f.held[string(o.UID)] = o
	}
}

// reading is what is listed and watched by one path, with the same selectors.
type reading struct {
	resource, namespace string
	selects             bool
	open, short         int // watches that are open; that were short in a row
	seen, expired       bool
	lists               int            // that have begun
	has                 map[string]int // the list since which an object was last told, by its key
}

// told notes that an object is there, or no more. Of very many it notes the first ones.
func (r *reading) told(key string, isThere bool) {
	_, isKnown := r.has[key]
	switch {
	case !isThere:
		delete(r.has, key)
	case isKnown || len(r.has) < mostObjects:
		r.has[key] = r.lists
	}
}

// complete returns which objects the last list has no more, when all of it was told.
func (r *reading) complete() (gone []string) {
	for key, list := range r.has {
		if list < r.lists {
			gone = append(gone, key)
			delete(r.has, key)
		}
	}
	return gone
}

// answer is a note of what was asked for.
type answer struct {
	note
	*reading
	body      map[string]any
	isWatched bool // all that it is about
}

// String names the request as Kubernetes does.
func (a *answer) String() string { return strings.ToUpper(a.verb()) + " " + a.path }

// judgeRead looks at what was answered; what is the type of an event.
func (g *Glass) judgeRead(n note, what string, body map[string]any) {
	f := g.findings
	if f.open == 0 && !f.idle.IsZero() && n.began.Sub(f.idle) > 2*shortWatch {
		clear(f.readings) // A program that was started anew lists anew.
	}
	a := &answer{note: n, body: body, reading: f.reading(n), isWatched: f.isWatched(n)}
	a.expired = a.expired || what == "ERROR" || n.code == http.StatusGone
	if n.What == trace.Ended {
		a.open, a.short = a.open-1, a.short+1
		if n.Time.Sub(n.began) > shortWatch || a.expired {
			a.short = 0
		}
		if f.open--; f.open == 0 {
			f.idle = n.Time
		}
	}
	g.found(f.inAnswer(a))
	if n.What == trace.Opened && n.query.Get("sendInitialEvents") == "true" {
		a.lists++
	}
	if n.What == trace.Opened {
		a.seen, a.open = true, a.open+1
		f.open++
	}
}

// reading returns what a request is part of. One for a single object is part of none.
func (f *findings) reading(n note) *reading {
	selector := n.query.Get("labelSelector") + " " + n.query.Get("fieldSelector")
	now := &reading{resource: n.resource, namespace: n.Namespace, selects: selector != " ", has: map[string]int{}}
	if !n.list && !n.watch {
		return now
	}
	key := n.path + " " + selector
	if f.readings[key] == nil {
		f.readings[key] = now
	}
	return f.readings[key]
}

// isWatched reports whether a watch of everything that a request is about is open.
func (f *findings) isWatched(n note) bool {
	for _, r := range f.readings {
		if r.open > 0 && !r.selects && r.resource == n.resource && (r.namespace == "" || r.namespace == n.Namespace) {
			return true
		}
	}
	return false
}

// pace is that of the requests to one API group, which share a client and its limit.
type pace struct {
	began, ended time.Time
	gap          time.Duration
}

// paced returns the pause before a request, and whether it is the last of many with the same pause
// between them, in which the client did nothing.
func (f *findings) paced(a *answer) (time.Duration, bool) {
	if a.What != trace.Answered && a.What != trace.Listed {
		return 0, false
	}
	last := f.paces[a.Group]
	now := pace{began: a.began, ended: a.Time, gap: a.began.Sub(last.began)}
	f.paces[a.Group] = now
	idle := a.began.Sub(last.ended)
	n := f.inRow("pace "+a.Group, now.gap >= 20*time.Millisecond && now.gap <= time.Second && idle >= now.gap/2 && (now.gap-last.gap).Abs() <= now.gap/6)
	return now.gap, n > 0 && n%mostPaced == 0
}

// finish tells what is left to tell, finds what is left at the end, and names all findings.
func (g *Glass) finish() {
	g.Observer.Close()
	g.atEnd(time.Now())
	for _, one := range g.Findings() {
		g.remark("finding", "%d × %s: %s. Right: %s", one.Count, one.Name, one.What, one.Right)
	}
	g.Observer.Close() // These are lines, too.
}

// Findings are those that there were. It may be called after Close.
func (g *Glass) Findings() []Finding {
	all := []Finding{}
	for _, f := range g.findings.all {
		if f.Count > 0 {
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
