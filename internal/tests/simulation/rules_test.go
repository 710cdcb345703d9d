package simulation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/informer"
	"example.com/byhand/internal/tests/oracle"
)

// rules is what the audit must remember to judge a request.
type rules struct {
	touched map[string]int         // how often others have changed the object at a path
	writes  map[string][]*exchange // the processes' writes, by path
	counts  map[string]int         // requests by method, resource and outcome
	sent    map[string][]time.Time // see checkRate
}

// seen is the state that a worker knows: its stores when it began, and the responses since.
type seen struct {
	view
	touched int           // how often others had changed the live Foo
	live    *v1alpha1.Foo // the API server's, if it is the same Foo
}

// view is what a store says about one key.
type view struct {
	foo        *v1alpha1.Foo      // may be nil
	deployment *appsv1.Deployment // with the name in the Foo; may be nil
	owned      []*appsv1.Deployment
	exists     oracle.Exists
}

func (s *sequence) views(p *process, key cache.ObjectName) (v view) {
	stored, found, _ := p.foos.store.GetByKey(key.String())
	if !found {
		return v
	}
	v.foo = stored.(*v1alpha1.Foo)
	name := cache.NewObjectName(key.Namespace, v.foo.Spec.DeploymentName)
	if stored, found, _ := p.deployments.store.GetByKey(name.String()); found {
		v.deployment = stored.(*appsv1.Deployment)
	}
	v.owned = informer.DeploymentsOf(p.deployments.store, v.foo)
	foos := map[string]types.UID{}
	for _, foo := range p.foos.store.List() {
		foo := foo.(*v1alpha1.Foo)
		foos[cache.MetaObjectToName(foo).String()] = foo.UID
	}
	v.exists = func(name string, uid types.UID) bool { return foos[key.Namespace+"/"+name] == uid }
	return v
}

func (v view) wants() []string { return oracle.Wants(v.foo, v.deployment, v.owned, v.exists) }

func statusOf(s *sequence, foo *unstructured.Unstructured) v1alpha1.FooStatus {
	return typed[v1alpha1.Foo](s, foo).Status
}

// sees returns what a worker that begins now can know.
func (s *sequence) sees(w *worker) seen {
	path := pathOf("foos", w.key)
	saw := seen{view: s.views(w.process, w.key), touched: s.rules.touched[path]}
	if saw.foo == nil {
		return saw
	}
	if live := s.api.Get(path); live != nil && live.GetUID() == saw.foo.UID {
		saw.live = typed[v1alpha1.Foo](s, live)
	}
	return saw
}

func number(version string) int {
	n, _ := strconv.Atoi(version)
	return n
}

// audit judges a request that the server has answered.
func (s *sequence) audit(x *exchange) {
	if x.version = s.api.Version(); x.after != nil {
		x.version = number(x.after.GetResourceVersion())
	}
	s.noteRequest(x)
	foo := x.worker.seen.foo
	switch {
	case foo == nil:
		s.breaks("a request for a Foo that its store does not have")
	case foo.DeletionTimestamp != nil:
		s.breaks("a request for a Foo that is being deleted")
	case x.refused != nil:
		s.checkRefusal(x)
	case x.status:
		s.checkStatus(x)
	case x.method == http.MethodPost:
		s.checkCreate(x)
	case x.method == http.MethodPut:
		s.checkUpdate(x)
	case x.method == http.MethodDelete:
		s.checkDelete(x)
	}
	if x.refused == nil && x.method != http.MethodGet {
		s.rules.writes[x.path] = append(s.rules.writes[x.path], x)
	}
}

func (s *sequence) noteRequest(a *exchange) {
	outcome, counted := fmt.Sprintf("v%d", a.version), "done"
	if a.refused != nil {
		counted = string(a.refused.ErrStatus.Reason)
		outcome = fmt.Sprintf("%d %s", a.refused.ErrStatus.Code, counted)
	}
	s.rules.counts[a.method+" "+a.resource+" "+counted]++
	what, sent := short(a.path), versionSent(a)
	if a.status {
		status := statusOf(s, a.body)
		what += fmt.Sprintf("/status (%s, %d available)", reasonOf(status), status.AvailableReplicas)
	} else if a.body.Object != nil {
		spec := decode[appsv1.Deployment](s, a.body).Spec
		what += fmt.Sprintf(" (replicas %s)", text(spec.Replicas))
	}
	if sent != "" && a.method != http.MethodPost {
		what += " of v" + sent
	}
	s.note(a.worker.String(), "%s: %s %s → %s", a.worker.key, a.method, what, outcome)
}

func (s *sequence) delivered(w *worker, a *exchange) {
	a.delivered = true
	if a.refused != nil {
		return
	}
	if a.resource != "deployments" {
		return
	}
	switch {
	case a.method == http.MethodDelete:
		w.seen.owned = slices.DeleteFunc(slices.Clone(w.seen.owned), func(d *appsv1.Deployment) bool { return d.Name == a.name })
	case a.name == w.seen.foo.Spec.DeploymentName && a.method != http.MethodGet:
		w.seen.deployment = typed[appsv1.Deployment](s, a.answer)
	}
}

// versionSent is the resourceVersion that a request requires, or "".
func versionSent(a *exchange) string {
	if a.method == http.MethodDelete && a.preconditions.ResourceVersion != nil {
		return *a.preconditions.ResourceVersion
	}
	return a.body.GetResourceVersion()
}

func reasonOf(status v1alpha1.FooStatus) string {
	if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady); ready != nil {
		return ready.Reason
	}
	return "none"
}

func text(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}
