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
	mostShown    = 5       // requests of one place in the log
	mostRequests = 8 << 10 // requests of one finding in a report
)

// Finding is wasteful or wrong behavior, and the requests that show it.
type Finding struct {
	Name     string         `json:"name"`
	What     string         `json:"what"`
	Advice   string         `json:"advice"` // with the file in this repository that does it right
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

// Report is the result of a run.
type Report struct {
	Program  string             `json:"program"` // Options.Program
	Findings []Finding          `json:"findings"`
	Summary  map[string]*Counts `json:"summary"` // by resource
}

// findings is the state of the rules. It is not safe for concurrent use.
type findings struct {
	program  string
	all      []Finding
	accepted sets.Set[string] // names of findings, and names with a place
	summary  map[string]*Counts
	streams  map[source]*stream
	paces    map[string]pace
	rejected map[string]*write     // not repeated yet, by exchange.key
	own      sets.Set[string]      // finalizers that the program added
	held     map[types.UID]*object // objects in deletion that have such a finalizer
	unowned  [][2]*object          // created objects without an owner, and their causes
}

func newFindings(o Options) (*findings, error) {
	names := sets.New[string]()
	for _, one := range table {
		names.Insert(one.Name)
	}
	if unknown := sets.New(o.Allowed...).Difference(names); unknown.Len() > 0 {
		return nil, fmt.Errorf("--allow %s: there is no such finding: give one of %s", strings.Join(sets.List(unknown), ", "), strings.Join(sets.List(names), ", "))
	}
	f := &findings{program: o.Program, all: slices.Clone(table), accepted: sets.New(o.Allowed...), summary: map[string]*Counts{}, streams: map[source]*stream{}, paces: map[string]pace{},
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
	for _, one := range report.Findings {
		for place := range one.Places {
			f.accepted.Insert(one.Name + " " + place)
		}
	}
	return f, nil
}

// If is == true, found counts and logs a finding that is neither allowed nor known. The place is a
// verb and a resource.
func (p *Proxy) found(name string, is bool, place, format string, args ...any) {
	if !is || p.findings.accepted.HasAny(name, name+" "+place) {
		return
	}
	f := &p.findings.all[slices.IndexFunc(table, func(one Finding) bool { return one.Name == name })]
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

func (f *findings) counts(resource string) *Counts {
	if f.summary[resource] == nil {
		f.summary[resource] = &Counts{}
	}
	return f.summary[resource]
}

// row counts consecutive occurrences: it returns before + 1, or 0 if is == false.
func row(is bool, before int) int {
	if is {
		return before + 1
	}
	return 0
}

// learn records the finalizers that a write added, and an object created without an owner.
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

// hear updates the held objects after an event that the program received.
func (f *findings) hear(o *object) {
	delete(f.held, o.UID)
	if !o.gone && o.DeletionTimestamp != nil && f.own.HasAny(o.Finalizers...) {
		f.held[o.UID] = o
	}
}

// source is what the lists and watches of one informer or more have in common.
type source struct {
	resource, namespace, selector string
	partial                       bool
}

// stream is the state of these lists and watches.
type stream struct {
	open, short int       // open watches; short watches in a row
	ended       time.Time // the last watch
	expired     bool
	polls       int       // lists in a row without a watch
	polled      time.Time // the first of these
}

// stream returns the stream of a request, and an empty one for a request of a single object.
func (f *findings) stream(n note) *stream {
	if !n.isMany() {
		return &stream{}
	}
	from := source{n.resource, n.Target.Namespace, n.selector(), n.partial}
	if f.streams[from] == nil {
		f.streams[from] = &stream{}
	}
	return f.streams[from]
}

// isWatched reports whether an open watch delivers the objects of a request: whole ones, or at least their
// metadata.
func (f *findings) isWatched(n note, metadata bool) bool {
	for from, s := range f.streams {
		isSame := from.resource == n.resource && (from.namespace == "" || from.namespace == n.Target.Namespace)
		if isSame && s.open > 0 && from.selector == "" && (metadata || !from.partial) {
			return true
		}
	}
	return false
}

// pace is the pace of the requests to one API group, which share a client and its limit.
type pace struct {
	began, ended time.Time
	gap          time.Duration
	row          int
}

// paced returns the pause before a request, and whether mostPaced requests in a row had the same pause,
// in which the client was idle.
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

// Findings returns the findings that occurred. It may be called after Close.
func (p *Proxy) Findings() []Finding {
	return slices.DeleteFunc(slices.Clone(p.findings.all), func(one Finding) bool { return one.Count == 0 })
}

// Report writes a Report as JSON. It may be called after Close.
func (p *Proxy) Report(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(Report{p.findings.program, p.Findings(), p.findings.summary})
}
