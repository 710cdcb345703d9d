package simulation

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// attacker is one fault that lasts a minute or longer. Unused functions are nil.
type attacker struct {
	what  string
	from  int // the step in which it begins
	begin func()
	// admit changes x.admitted, delays a request, or rejects it.
	admit func(x *exchange) *apierrors.StatusError
	// act runs in a step. It returns false if there is nothing to do.
	act func() bool
	// report changes the status that the controller of Deployments writes.
	report func(status map[string]any)
	// holds is the resource whose watch it holds, or hold, the finalizer that it keeps.
	holds string
	end   func()
}

// attackers are all kinds, the frequent ones more than once.
var attackers = []func(s *sequence) *attacker{
	(*sequence).webhookChanges, (*sequence).webhookChanges, (*sequence).webhookChanges, (*sequence).otherSetsBack, (*sequence).otherSetsBack,
	(*sequence).serverRefuses, (*sequence).serverRefuses, (*sequence).serverRefuses, (*sequence).serverRefuses,
	(*sequence).rolloutFails, (*sequence).finalizerStays, (*sequence).watchIsHeld,
}

// chooseAttackers chooses none, one or two.
func (s *sequence) chooseAttackers() {
	whole := s.rand
	for i := range pick(s, []int{0, 1, 1, 1, 2, 2}) {
		s.rand = rand.New(rand.NewPCG(s.seed, uint64(i+1)))
		a := pick(s, attackers)(s)
		a.from = s.rand.IntN(200)
		s.waiting = append(s.waiting, a)
	}
	s.rand = whole
}

// attack lets those begin whose step it is, or all.
func (s *sequence) attack(all bool) {
	s.waiting = slices.DeleteFunc(s.waiting, func(a *attacker) bool {
		if !all && a.from > s.stepped {
			return false
		}
		s.note("attack", "begins: %s", a.what)
		if a.begin != nil {
			a.begin()
		}
		s.attackers = append(s.attackers, a)
		return true
	})
}

func (s *sequence) endAttacks() {
	for _, a := range s.attackers {
		if a.end != nil {
			a.end()
		}
	}
	s.attackers = nil
	s.note("attack", "ends")
}

func (s *sequence) attackersAct() (all []action) {
	for _, a := range s.attackers {
		if a.act != nil {
			all = append(all, action{8, a.act})
		}
	}
	return all
}

func (s *sequence) isHeld(what string) bool {
	return slices.ContainsFunc(s.attackers, func(a *attacker) bool { return a.holds == what })
}

// field is a field that the program sets, with the attacker's value; nil removes it.
type field struct {
	resource, path string
	value          any
}

var fields = []field{
	{"deployments", "spec.replicas", int64(7)},
	{"deployments", "spec.template.spec.containers", []any{
		map[string]any{"name": "sidecar", "image": "sidecar:1"}, map[string]any{"name": "nginx", "image": "theirs:2", "args": []any{"kept"}}}},
	{"deployments", "metadata.ownerReferences", nil},
	{"deployments", "metadata.ownerReferences", []any{map[string]any{"apiVersion": "example.com/v1", "kind": "Other", "name": "other", "uid": "other", "controller": true}}},
	{"foos", "status", nil},
	{"foos", "status.availableReplicas", int64(7)},
	{"foos", "status.conditions", []any{theirCondition("Progressing"), theirCondition("Other")}},
}

// theirCondition is one of another controller.
func theirCondition(kind string) map[string]any {
	return map[string]any{"type": kind, "status": "True", "reason": "Theirs", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
}

func (f field) String() string { return fmt.Sprint(f.resource, " ", f.path, " = ", text(f.value)) }

func (f field) in(object *unstructured.Unstructured) bool {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, strings.Split(f.path, ".")...)
	return reflect.DeepEqual(value, f.value)
}

func (f field) set(object *unstructured.Unstructured) {
	if path := strings.Split(f.path, "."); f.value == nil {
		unstructured.RemoveNestedField(object.Object, path...)
	} else {
		_ = unstructured.SetNestedField(object.Object, f.value, path...)
	}
}

// webhookChanges changes one field in each write.
func (s *sequence) webhookChanges() *attacker {
	f := pick(s, fields)
	return &attacker{what: "a webhook changes " + f.String(), admit: func(x *exchange) *apierrors.StatusError {
		if x.admitted != nil && x.status == (f.resource == "foos") {
			f.set(x.admitted)
		}
		return nil
	}}
}

// otherSetsBack sets one field of all objects, after each change.
func (s *sequence) otherSetsBack() *attacker { return s.sets(pick(s, fields)) }

func (s *sequence) sets(f field) *attacker {
	return &attacker{what: "another controller sets " + f.String(), act: func() bool {
		due := slices.DeleteFunc(s.api.Paths(f.resource), func(path string) bool {
			return f.in(s.api.Get(path)) || s.api.Get(path).GetDeletionTimestamp() != nil
		})
		return len(due) > 0 && s.change("other", pick(s, due), f.String(), f.set)
	}}
}

// operations can fail.
var operations = []string{"POST deployments", "PUT deployments", "DELETE deployments", "PUT foos/status", "GET foos"}

// refusals are the errors. Their texts have a new identifier each time.
var refusals = []struct {
	code   int32
	reason metav1.StatusReason
	words  string
}{
	{403, "", `admission webhook "deny.example.com" denied the request: request %s`},
	{400, "", `admission webhook "deny.example.com" denied the request: request %s`},
	{422, metav1.StatusReasonInvalid, `ValidatingAdmissionPolicy 'deny.example.com' denied request %s`},
	{403, metav1.StatusReasonForbidden, `User "byhand" cannot do this, %s`},
	{500, metav1.StatusReasonInternalError, `failed calling webhook "slow.example.com": %s`},
	{429, metav1.StatusReasonTooManyRequests, `too many requests, %s`},
	{504, metav1.StatusReasonTimeout, `failed calling webhook "slow.example.com": %s: deadline exceeded`},
}

func (s *sequence) refuse(kind int) *apierrors.StatusError {
	how, id := refusals[kind], fmt.Sprintf("%x-a1", s.rand.Uint32())
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: how.code, Reason: how.reason, Message: fmt.Sprintf(how.words, id)}}
}

// serverRefuses is a webhook, a policy, a quota, a lost right or a failing server: one operation fails in one
// way, at once or late.
func (s *sequence) serverRefuses() *attacker {
	operation, kind, takes := pick(s, operations), s.rand.IntN(len(refusals)), pick(s, []time.Duration{0, 0, 0, 0, 10 * time.Second, time.Hour})
	return &attacker{what: fmt.Sprintf("%s: after %v, %d %s", operation, takes, refusals[kind].code, refusals[kind].words), admit: func(x *exchange) *apierrors.StatusError {
		if x.operation() != operation {
			return nil
		}
		x.takes = takes
		return s.refuse(kind)
	}}
}

// rolloutFails: the controller of Deployments makes no ReplicaSets, no Pods, or, while a
// Deployment is paused, none of the newest template.
func (s *sequence) rolloutFails() *attacker {
	none := func(kind, status, reason string) func(map[string]any) {
		condition := map[string]any{"type": kind, "status": status, "reason": reason, "message": "exceeded quota: q"}
		return func(is map[string]any) {
			is["replicas"], is["updatedReplicas"], is["availableReplicas"], is["conditions"] = int64(0), int64(0), int64(0), []any{condition}
			if reason == "ReplicaSetCreateError" {
				delete(is, "observedGeneration")
			}
		}
	}
	paused := s.sets(field{"deployments", "spec.paused", true})
	paused.report = func(is map[string]any) { is["updatedReplicas"] = int64(0) }
	paused.end = func() {
		for _, path := range s.api.Paths("deployments") {
			s.setField("other", path, nil, "spec", "paused")
		}
	}
	return pick(s, []*attacker{paused,
		{what: "no Pods", report: none("ReplicaFailure", "True", "FailedCreate")},
		{what: "no progress", report: none("Progressing", "False", "ProgressDeadlineExceeded")},
		{what: "no ReplicaSets", report: none("Progressing", "False", "ReplicaSetCreateError")},
	})
}

// finalizerStays keeps all Deployments.
func (s *sequence) finalizerStays() *attacker {
	a := s.sets(field{"deployments", "metadata.finalizers", []any{hold}})
	a.holds = hold
	return a
}

func (s *sequence) watchIsHeld() *attacker {
	resource := pick(s, []string{"foos", "deployments"})
	return &attacker{what: "the watch of " + resource + " is held", holds: resource}
}
