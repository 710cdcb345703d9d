package proxy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/byhand/internal/observe/trace"
)

const (
	mostShown    = 5       // requests of one place that the log shows
	mostRequests = 8 << 10 // that a report has of one finding
)

// Finding is what is wasted or wrong, and the requests that show it.
type Finding struct {
	Name   string `json:"name"`
	What   string `json:"what"`
	Advice string `json:"advice"`
	// See is the file of this repository that does it right.
	See      string         `json:"see"`
	Count    int            `json:"count"`
	Places   map[string]int `json:"places"` // the count by verb and resource, such as "UPDATE secrets"
	Requests []string       `json:"requests"`
}

// Counts are the requests for one resource.
type Counts struct {
	Writes    int `json:"writes"`
	NoOps     int `json:"noOps"` // writes that changed nothing
	Lists     int `json:"lists"`
	GETs      int `json:"gets"`
	Conflicts int `json:"conflicts"`
}

// Report is what look says at the end.
type Report struct {
	Program  string             `json:"program"` // Options.Program
	Findings []Finding          `json:"findings"`
	Summary  map[string]*Counts `json:"summary"` // by resource
}

// findings is what is known to judge by. It is for one caller at a time.
type findings struct {
	all      []Finding // the allowed ones are not in it
	known    []Finding // of an earlier report
	summary  map[string]*Counts
	streams  map[string]*stream
	paces    map[string]pace
	rejected map[string]*write     // not sent again yet, by what a write is known by
	own      sets.Set[string]      // finalizers
	held     map[types.UID]*object // by what was a finalizer of the program
	unowned  [][2]*object          // what was created, and because of what
}

func newFindings(o Options) (*findings, error) {
	names := sets.New[string]()
	for _, one := range table {
		names.Insert(one.Name)
	}
	if unknown := sets.New(o.Allowed...).Difference(names); unknown.Len() > 0 {
		return nil, fmt.Errorf("--allow %s: there is no such finding: give one of %s", strings.Join(sets.List(unknown), ", "), strings.Join(sets.List(names), ", "))
	}
	isAllowed := func(one Finding) bool { return slices.Contains(o.Allowed, one.Name) }
	f := &findings{all: slices.DeleteFunc(slices.Clone(table), isAllowed), summary: map[string]*Counts{}, streams: map[string]*stream{}, paces: map[string]pace{},
		rejected: map[string]*write{}, own: sets.New[string](), held: map[types.UID]*object{}}
	if o.Known == "" {
		return f, nil
	}
	var report Report
	text, err := os.ReadFile(o.Known)
	if err = cmp.Or(err, json.Unmarshal(text, &report)); err == nil && report.Findings == nil {
		err = errors.New("there are no findings in it")
	}
	if err == nil && report.Program != o.Program {
		err = fmt.Errorf("it is the report of %q, not of %q", report.Program, o.Program)
	}
	if err != nil {
		return nil, fmt.Errorf("--known %s: %w: give a file that --report wrote for the same program", o.Known, err)
	}
	f.known = report.Findings
	return f, nil
}

// found counts a finding if it is one, and tells it. The place is a verb and a resource.
func (p *Proxy) found(name string, is bool, place, format string, args ...any) {
	isIt := func(one Finding) bool { return one.Name == name }
	at := slices.IndexFunc(p.findings.all, isIt)
	if !is || at < 0 {
		return
	}
	if known := slices.IndexFunc(p.findings.known, isIt); known >= 0 && p.findings.known[known].Places[place] > 0 {
		return
	}
	f := &p.findings.all[at]
	if f.Places == nil {
		f.Places = map[string]int{}
	}
	f.Count++
	f.Places[place]++
	request := fmt.Sprintf(format, args...)
	if len(f.Requests) < mostRequests {
		f.Requests = append(f.Requests, request)
	}
	if f.Places[place] <= mostShown {
		p.remark("finding", "%s: %s", name, request)
	}
}

// counts returns the counts of a resource.
func (f *findings) counts(resource string) *Counts {
	if f.summary[resource] == nil {
		f.summary[resource] = &Counts{}
	}
	return f.summary[resource]
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
	if w.Method != http.MethodPost || w.cause == nil || len(w.now.OwnerReferences) > 0 || len(f.unowned) == mostObjects {
		return
	}
	if owner := w.cause.object; owner.UID != w.now.UID && (owner.Namespace == w.now.Namespace || owner.Namespace == "") {
		f.unowned = append(f.unowned, [2]*object{w.now, owner})
	}
}

// hear looks at an event that the program was told of.
func (f *findings) hear(o *object) {
	delete(f.held, o.UID)
	if !o.gone && o.DeletionTimestamp != nil && f.own.HasAny(o.Finalizers...) {
		f.held[o.UID] = o
	}
}

// stream is what is listed and watched by one path, with the same selectors, by one informer or more.
type stream struct {
	resource, namespace string
	selects, partial    bool
	open, short         int       // watches that are open; that were short in a row
	ended               time.Time // the last one
	expired             bool
	isListed            bool             // once at least
	has                 sets.Set[string] // the keys of the objects in it
	polls               int              // lists in a row while nothing is watched
	polled              time.Time        // the first of these
}

// stream returns what a request is part of. One for a single object is part of none.
func (f *findings) stream(n note) *stream {
	if !n.isMany() {
		return &stream{}
	}
	selector := n.Query.Get("labelSelector") + " " + n.Query.Get("fieldSelector")
	key := fmt.Sprint(n.Path, " ", selector, n.partial)
	if f.streams[key] == nil {
		f.streams[key] = &stream{resource: n.resource, namespace: n.Target.Namespace, selects: selector != " ", partial: n.partial, has: sets.New[string]()}
	}
	return f.streams[key]
}

// isWatched reports whether a watch of everything that a request is about is open: of whole objects, and
// of their metadata only.
func (f *findings) isWatched(n note) (whole, partial bool) {
	for _, s := range f.streams {
		if s.open > 0 && !s.selects && s.resource == n.resource && (s.namespace == "" || s.namespace == n.Target.Namespace) {
			whole, partial = whole || !s.partial, partial || s.partial
		}
	}
	return whole, partial
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

// Report writes a Report as JSON. It may be called after Close.
func (p *Proxy) Report(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(Report{p.program, p.Findings(), p.findings.summary})
}
