package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
	"example.com/byhand/internal/testkit/oracle"
)

// Bounds of what a process sends for one object while nobody but an attacker changes anything.
const (
	window    = 15 * time.Second
	windowMax = 20               // writes of one operation on one object, for one purpose, in that time: two for each doubling, a Conflict and what succeeds after it
	toldAfter = 30 * time.Second // A failure that goes on must be reported by then.
	stands    = time.Minute      // A write that is needed again before that has been undone.
	settles   = 2 * time.Second  // after what is new in a store: a key waits a second for it, and may have begun just before
)

// record is what a process did for one key.
type record struct {
	writes  map[string]*write
	sent    map[string][]time.Time // the writes in the window
	newest  map[string]int         // the version that the server has answered, by resource
	verdict string                 // what the status must say, failures apart
	errs    map[string]time.Time   // when reconciles have failed
	// How many causes began that a person must know, and how many Warnings there were.
	causes, warnings int
	posted           types.UID   // the Foo for which it has sent a write
	wrote            []time.Time // when a Deployment was written
	// At rest: how often that which the status must say has changed, and how often the status was
	// stored.
	changes, statuses int
}

// write is one that the process has sent: an operation on an object, for one purpose.
type write struct {
	purpose string
	reason  string // for the condition Ready, if it failed; "" if it succeeded
	cause   string // what is told once
	isOneOf bool   // what failed is a GET for this write or for another one
	// How often it failed, or succeeded and was undone, in a row, and since when.
	times       int
	since, last time.Time
	done        int // how often it was sent in a row, from the first success on
}

func (p *process) record(key cache.ObjectName) *record {
	if p.records[key] == nil {
		p.records[key] = &record{writes: map[string]*write{}, sent: map[string][]time.Time{}, newest: map[string]int{}, errs: map[string]time.Time{}}
	}
	return p.records[key]
}

const (
	statusWrite = "PUT status"
	causeBehind = "the cache is behind"
)

// of returns the writes that a request is for, as oracle.Wants names them. A GET is for what is wanted
// and was not sent yet.
func (x *exchange) of(w *worker) (writes []string) {
	switch {
	case x.status:
		return []string{statusWrite}
	case x.method != http.MethodGet:
		return []string{x.method + " " + x.name}
	}
	return slices.DeleteFunc(w.seen.wants(), func(write string) bool { return write == statusWrite || w.sent[write] })
}

// showsNewer reports whether the answer to a GET says that the cache is behind.
func (s *sequence) showsNewer(x *exchange, saw seen, refused *apierrors.StatusError) bool {
	switch {
	case refused != nil:
		return apierrors.IsNotFound(refused)
	case x.resource == "foos":
		return x.answer.GetUID() != saw.foo.UID || x.answer.GetGeneration() != saw.foo.Generation
	case x.name == saw.foo.Spec.DeploymentName:
		return x.answer.GetDeletionTimestamp() != nil || saw.changed(s, x) != ""
	}
	return slices.ContainsFunc(saw.owned, func(old *appsv1.Deployment) bool {
		return old.Name == x.name && oracle.Replicas(old) != oracle.Replicas(typed[appsv1.Deployment](s, x.answer))
	})
}

// ended notes how a request has ended for the worker: refused, lost (nobody knows), or done.
func (s *sequence) ended(w *worker, x *exchange, refused *apierrors.StatusError, lost bool) {
	reason, cause, changed := "", "", ""
	if !x.status && x.answer != nil && x.method != http.MethodGet {
		changed = w.seen.changed(s, x)
	}
	switch {
	case lost:
		reason, cause = v1alpha1.ReasonRequestFailed, "lost"
	case !lost && x.method == http.MethodGet && s.showsNewer(x, w.seen, refused):
		reason, cause = v1alpha1.ReasonRequestFailed, causeBehind // if that lasts
	case refused != nil:
		cause = fmt.Sprint(refused.ErrStatus.Code, refused.ErrStatus.Reason)
		if reason = v1alpha1.ReasonRequestFailed; slices.Contains([]int32{400, 403, 413, 422}, refused.ErrStatus.Code) {
			reason = v1alpha1.ReasonForbidden
		}
	case x.status && !equality.Semantic.DeepEqual(statusOf(s, x.body), statusOf(s, x.answer)), changed != "":
		reason, cause = v1alpha1.ReasonChangedByOthers, "changed "+changed
	}
	w.failed = w.failed || reason != ""
	if x.method == http.MethodGet && reason == "" {
		return
	}
	r, purpose := w.process.record(w.key), s.purpose(w, x)
	writes := x.of(w)
	for _, name := range writes {
		r.note(name, &write{purpose: purpose, reason: reason, cause: cause, since: x.at, isOneOf: len(writes) > 1})
		w.sent[name] = x.method != http.MethodGet
	}
	if x.status && !lost && refused == nil {
		if is := reasonOf(statusOf(s, x.body)); is != reasonOf(w.seen.foo.Status) {
			r.causes++ // An Event tells of a new reason.
		}
	}
	if !x.status && !lost && refused == nil && x.method != http.MethodDelete {
		r.wrote = append(r.wrote, time.Now())
	}
	if x.status && reason == "" && r.writes[statusWrite].times == 1 && s.resting {
		if r.statuses++; r.statuses > r.changes+r.causes+2 {
			s.breaks("%s: %d updates of the status, after %d changes of what it must say and %d causes", w.key, r.statuses, r.changes, r.causes)
		}
	}
}

// purpose is what a write is for.
func (s *sequence) purpose(w *worker, x *exchange) string {
	if !x.status {
		return fmt.Sprint(w.seen.foo.UID, w.seen.foo.Generation)
	}
	status := statusOf(s, x.body)
	purpose := fmt.Sprint(status.ObservedGeneration, status.Replicas, status.AvailableReplicas)
	if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady); ready != nil {
		purpose += ready.Reason + ready.Message
	}
	return purpose
}

// note notes how a write has ended.
func (r *record) note(name string, w *write) {
	w.last, w.times = time.Now(), 1
	last := r.last(name)
	if last != nil && last.done > 0 && last.purpose == w.purpose && time.Since(last.last) < stands {
		w.done = last.done + 1
	} else if w.reason == "" {
		w.done = 1
	}
	if last == nil || last.reason == "" && (last.purpose != w.purpose || time.Since(last.last) >= stands) {
		last = &write{}
	}
	if w.reason != "" || last.reason == "" {
		w.times += last.times // in a row
	}
	if !last.since.IsZero() && w.times > 1 {
		w.since = last.since
	} else if w.reason == "" && w.times == 1 {
		w.since = time.Time{}
	}
	if last.purpose != w.purpose || last.reason != w.reason || last.cause != w.cause || w.reason == "" && w.times > 1 && name != statusWrite {
		r.causes++
	}
	r.writes[name] = w
}

// last returns the write that a write follows, nil if there is none. For the controller a create, or an update, is
// the same write under each name.
func (r *record) last(name string) (last *write) {
	if name == statusWrite || strings.HasPrefix(name, http.MethodDelete) {
		return r.writes[name]
	}
	for other, w := range r.writes {
		if other != statusWrite && other[:3] == name[:3] && (last == nil || w.last.After(last.last)) {
			last = w
		}
	}
	return last
}

// sends counts the writes of one operation on one object.
func (s *sequence) sends(w *worker, x *exchange) {
	if x.method == http.MethodPost {
		w.process.record(w.key).posted = w.seen.foo.UID
	}
	if !s.resting || x.method == http.MethodGet {
		return
	}
	r, what, now := w.process.record(w.key), x.operation()+" "+x.name, time.Now()
	if last := r.writes[statusWrite]; x.status && last != nil && last.purpose != s.purpose(w, x) {
		delete(r.sent, what) // See ended.
	}
	r.sent[what] = append(slices.DeleteFunc(r.sent[what], func(at time.Time) bool { return now.Sub(at) > window }), now)
	if n := len(r.sent[what]); n > windowMax {
		s.breaks("%s: %s, %d times in %v", w.key, what, n, window)
	}
}

// judges notes what the status must say by what a worker knows now.
func (s *sequence) judges(r *record, v view) {
	if v.foo == nil {
		return
	}
	want := v.status()
	verdict := text(want) + text(v.wants())
	if d := v.deployment; d != nil {
		verdict += fmt.Sprint(d.Name, controllerOf(d), oracle.Replicas(d), d.Status.UpdatedReplicas, d.Spec.Paused, d.Status.ObservedGeneration < d.Generation, text(d.Status.Conditions))
	}
	if verdict == r.verdict {
		return
	}
	r.verdict = verdict
	if s.resting {
		r.changes++
	}
	if want.Conditions[0].Reason != v1alpha1.ReasonAvailable && want.Conditions[0].Reason != v1alpha1.ReasonWaitingForReplicas {
		r.causes++
	}
}

// failing returns those of the writes that are failing: the reasons which the status must give, and
// those which it may. now are the writes that are wanted now, before those that were when the reconcile
// began.
func (r *record) failing(before, now []string) (must, may []string, old []string) {
	for _, name := range slices.Concat(before, now) {
		w := r.writes[name]
		switch {
		case w == nil || w.reason == "" && !slices.Contains(now, name):
			continue
		case w.reason == "" && w.times > 1:
			may = append(may, v1alpha1.ReasonChangedByOthers)
		case w.isOneOf:
			may = append(may, v1alpha1.ReasonForbidden, v1alpha1.ReasonRequestFailed)
		case w.reason == v1alpha1.ReasonRequestFailed:
			may = append(may, w.reason)
		case w.reason != "" && w.reason != v1alpha1.ReasonRequestFailed:
			must = append(must, w.reason)
		}
		if !w.since.IsZero() && time.Since(w.since) >= toldAfter {
			old = append(old, name)
		}
	}
	// What others undo is reported until it has stood.
	r.wrote = slices.DeleteFunc(r.wrote, func(at time.Time) bool { return time.Since(at) > 3*stands })
	if len(r.wrote) > 2 {
		may = append(may, v1alpha1.ReasonChangedByOthers)
	}
	return must, may, old
}

// ends forgets the failures of writes that are no longer wanted, when they are a minute old: until
// then they may be reported when they are wanted again, and last from then on. A DELETE is wanted again
// after more. A terminating namespace stays.
func (r *record) ends(wanted []string) {
	for name, w := range r.writes {
		isWanted := name == statusWrite || slices.ContainsFunc(wanted, func(other string) bool {
			return other == name || other[:3] == name[:3] && !strings.HasPrefix(name, http.MethodDelete) // under another name
		})
		if w.reason == "" || w.reason == v1alpha1.ReasonNamespaceTerminating || isWanted {
			continue
		}
		if w.since = time.Now(); time.Since(w.last) > stands && !strings.HasPrefix(name, http.MethodDelete) {
			delete(r.writes, name)
		}
	}
}

// untrue returns what is wrong with a status.
func (s *sequence) untrue(status v1alpha1.FooStatus, v view, before []string, r *record) string {
	want := v.status()
	must, may, _ := r.failing(before, v.wants())
	reason, ready := reasonOf(status), &want.Conditions[0]
	if isFailing := slices.Contains(slices.Concat(must, may), reason); isFailing || len(must) > 0 {
		ready.Status, ready.Reason = "False", reason
		if !isFailing {
			ready.Reason = must[0]
		}
	}
	return oracle.Untrue(status, want)
}

// checkRest is for a moment in which nothing can happen but that time passes: each Foo says
// what is so, and each failure that goes on.
func (s *sequence) checkRest() {
	p := s.process
	for _, stored := range p.foos.store.List() {
		foo := stored.(*v1alpha1.Foo)
		key := cache.MetaObjectToName(foo)
		live := s.api.Get(pathOf("foos", key))
		if live == nil || live.GetResourceVersion() != foo.ResourceVersion || foo.DeletionTimestamp != nil || p.queue.busy[key] || p.queue.waiting[key] {
			continue
		}
		r, v := p.record(key), s.views(p, key)
		if p.isBehind(r.newest) || time.Since(p.moved) < settles {
			continue
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(r.writes)), func(w *write) bool {
			return time.Since(w.last) < settles || w.cause == causeBehind && time.Since(w.since) < toldAfter
		}) {
			continue
		}
		status := typed[v1alpha1.Foo](s, live).Status
		refused := r.writes[statusWrite] != nil && (r.writes[statusWrite].reason != "" || r.writes[statusWrite].times > 1)
		if v.status().Conditions[0].Reason == v1alpha1.ReasonWaitingForDeletion && reasonOf(status) == v1alpha1.ReasonNameTaken {
			continue // Its owner is gone from the store of Foos, which wakes nobody. The Deployment will be.
		}
		if wrong := s.untrue(status, v, nil, r); wrong != "" && !refused {
			s.breaks("at rest, %s: %s", key, wrong)
		}
		for _, name := range v.wants() {
			if w := r.writes[name]; w == nil || w.reason == "" && w.times == 1 {
				s.breaks("at rest, %s needs a %s, and it is not sent", key, name)
			}
		}
		_, _, old := r.failing(nil, v.wants())
		for _, name := range old {
			// Nothing else reports these, yet, when the status cannot.
			if reason := r.writes[name].reason; refused && (reason == "" || reason == v1alpha1.ReasonNamespaceTerminating) {
				continue
			}
			method, object, _ := strings.Cut(name, " ")
			operation := map[string]string{"POST": "create", "PUT": "update", "DELETE": "delete"}[method] + " Deployment " + object
			said := ""
			if c := meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady); c != nil && c.Status == "False" {
				said = c.Message
			}
			for err, at := range r.errs {
				if refused && time.Since(at) < time.Minute {
					said += err
				}
			}
			if !strings.Contains(said, operation) && !strings.Contains(said, controller.ErrReverted.Error()) {
				s.breaks("%s: %s has failed for %v, and %q says nothing of it", key, name, time.Since(r.writes[name].since), cmp.Or(said, reasonOf(status)))
			}
		}
	}
}

// isBehind reports whether a store has not seen these versions yet.
func (p *process) isBehind(newest map[string]int) bool {
	return newest["foos"] > number(p.foos.store.LastStoreSyncResourceVersion()) || newest["deployments"] > number(p.deployments.store.LastStoreSyncResourceVersion())
}

// Eventf counts the Warnings.
func (p *process) Eventf(regarding, _ runtime.Object, kind, reason, _, note string, args ...any) {
	key := cache.MetaObjectToName(regarding.(*v1alpha1.Foo))
	r := p.record(key)
	if kind != corev1.EventTypeWarning {
		return
	}
	p.s.note("event", "%s: %s %s", key, reason, fmt.Sprintf(note, args...))
	if r.warnings++; r.warnings > r.causes {
		p.s.breaks("%s: %d Warnings, and %d causes", key, r.warnings, r.causes)
	}
}
