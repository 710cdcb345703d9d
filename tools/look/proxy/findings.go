package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/byhand/internal/observe/trace"
)

// mostRequests are kept of one finding.
const mostRequests = 5

// findings is what is known to judge by. It is for one caller at a time.
type findings struct {
	all      []Finding // those that are allowed are not in it
	readings map[string]*reading
	paces    map[string]pace
	written  sets.Set[string]            // namespaces
	heard    map[string]sets.Set[string] // namespaces by kind, where all are watched
	own      sets.Set[string]            // finalizers
	held     map[types.UID]*object       // by what was a finalizer of the program
	unowned  [][2]*object                // what was created, and because of what
}

func newFindings(allowed []string) (*findings, error) {
	names := sets.New[string]()
	for _, one := range table {
		names.Insert(one.Name)
	}
	if unknown := sets.New(allowed...).Difference(names); unknown.Len() > 0 {
		return nil, fmt.Errorf("--allow %s: there is no such finding: give one of %s", strings.Join(sets.List(unknown), ", "), strings.Join(sets.List(names), ", "))
	}
	isAllowed := func(one Finding) bool { return slices.Contains(allowed, one.Name) }
	return &findings{all: slices.DeleteFunc(slices.Clone(table), isAllowed), readings: map[string]*reading{}, paces: map[string]pace{},
		written: sets.New[string](), heard: map[string]sets.Set[string]{}, own: sets.New[string](), held: map[types.UID]*object{}}, nil
}

// found counts a finding if it is one, and tells it.
func (p *Proxy) found(name string, is bool, format string, args ...any) {
	at := slices.IndexFunc(p.findings.all, func(one Finding) bool { return one.Name == name })
	if !is || at < 0 {
		return
	}
	f := &p.findings.all[at]
	if f.Count++; f.Count <= mostRequests {
		request := fmt.Sprintf(format, args...)
		f.Requests = append(f.Requests, request)
		p.remark("finding", "%s: %s", name, request)
	}
}

// row is how often something was so, one time after the other, if it was so that often before.
func row(is bool, before int) int {
	if is {
		return before + 1
	}
	return 0
}

// learn notes what a write that was done says of the program.
func (f *findings) learn(w *write) {
	if w.before != nil {
		f.own = f.own.Union(sets.New(w.now.Finalizers...).Difference(sets.New(w.before.Finalizers...)))
	}
	if w.Target.Namespace != "" {
		f.written.Insert(w.Target.Namespace)
	}
	if w.Method == http.MethodPost && len(w.now.OwnerReferences) == 0 && w.cause != nil && w.cause.object.UID != w.now.UID && len(f.unowned) < mostObjects {
		f.unowned = append(f.unowned, [2]*object{w.now, w.cause.object})
	}
}

// hear looks at an event that the program was told of.
func (f *findings) hear(n note, h happening) {
	o := h.object
	if n.Target.Namespace == "" && o.Namespace != "" {
		if f.heard[o.Kind] == nil {
			f.heard[o.Kind] = sets.New[string]()
		}
		f.heard[o.Kind].Insert(o.Namespace)
	}
	delete(f.held, o.UID)
	if !o.gone && o.DeletionTimestamp != nil && f.own.HasAny(o.Finalizers...) {
		f.held[o.UID] = o
	}
}

// reading is what is listed and watched by one path, with the same selectors.
type reading struct {
	resource, namespace string
	selects             bool
	open, short         int       // watches that are open; that were short in a row
	ended               time.Time // the last one
	expired             bool
	lists               int            // that have begun
	has                 map[string]int // the list since which an object was last told, by its key
}

// told notes that an object is there. Of very many it notes the first ones.
func (r *reading) told(key string) {
	if _, isKnown := r.has[key]; isKnown || len(r.has) < mostObjects {
		r.has[key] = r.lists
	}
}

// reading returns what a request is part of. One for a single object is part of none.
func (f *findings) reading(n note) *reading {
	if !n.isMany() {
		return &reading{}
	}
	selector := n.Query.Get("labelSelector") + " " + n.Query.Get("fieldSelector")
	key := n.Path + " " + selector
	if f.readings[key] == nil {
		f.readings[key] = &reading{resource: n.resource, namespace: n.Target.Namespace, selects: selector != " ", has: map[string]int{}}
	}
	return f.readings[key]
}

// isWatched reports whether a watch of everything that a request is about is open.
func (f *findings) isWatched(n note) bool {
	for _, r := range f.readings {
		if r.open > 0 && !r.selects && r.resource == n.resource && (r.namespace == "" || r.namespace == n.Target.Namespace) {
			return true
		}
	}
	return false
}

// pace is that of the requests to one API group, which share a client and its limit.
type pace struct {
	began, ended time.Time
	gap          time.Duration
	row          int
}

// paced returns the pause before a request, and whether it is the last of many with the same pause
// between them, in which the client did nothing.
func (f *findings) paced(n note) (time.Duration, bool) {
	if n.What != trace.Answered && n.What != trace.Listed {
		return 0, false
	}
	last := f.paces[n.Target.Group]
	now := pace{began: n.At, ended: n.Time, gap: n.At.Sub(last.began)}
	idle := n.At.Sub(last.ended)
	now.row = row(now.gap >= 20*time.Millisecond && now.gap <= time.Second && idle >= now.gap/2 && (now.gap-last.gap).Abs() <= now.gap/6, last.row)
	f.paces[n.Target.Group] = now
	return now.gap, now.row > 0 && now.row%mostPaced == 0
}

// Findings are those that there were. It may be called after Close.
func (p *Proxy) Findings() []Finding {
	return slices.DeleteFunc(slices.Clone(p.findings.all), func(one Finding) bool { return one.Count == 0 })
}

// Report writes as JSON what was found. It may be called after Close.
func (p *Proxy) Report(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string][]Finding{"findings": p.Findings()})
}
