package court

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
)

// step is one thing that a scenario does, or waits for.
type step func(s *stage)

// object is JSON to be.
type object = map[string]any

const mergePatch = types.MergePatchType

// converged waits until everything is as it must be.
func converged(s *stage) {
	begin := s.canary.now()
	s.converge(s.bound)
	if s.scenario.calibrates {
		s.bound = max(s.bound, 10*(s.canary.now()-begin))
	}
}

// wait waits.
func wait(d time.Duration) step { return func(s *stage) { s.pause(d) } }

// idle fails if the program writes anything for so long: P2.
func idle(d time.Duration) step {
	return func(s *stage) {
		// Twice if another client has changed something meanwhile.
		for tries := 0; ; tries++ {
			begin, changes := time.Now(), s.history.changes()
			s.pause(d)
			writes := s.writesSince(begin)
			if len(writes) == 0 {
				return
			}
			if tries > 0 || !s.history.statusChangedSince(changes) {
				s.find(found(P2, noisy, time.Now(), "Nothing has happened for %s, and the program has sent %d writes. The first: %s", d, len(writes), writes[0].String()))
				return
			}
		}
	}
}

// statusChangedSince reports whether the controllers of Kubernetes have written since
// there were so many versions: then the program may have had something to do.
func (h *history) statusChangedSince(versions int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := map[types.UID]*appsv1.Deployment{}
	for i, v := range h.versions {
		if v.deployment == nil {
			continue
		}
		before := last[v.deployment.UID]
		if last[v.deployment.UID] = v.deployment; i >= versions && before != nil && before.Generation == v.deployment.Generation && before.Status.AvailableReplicas != v.deployment.Status.AvailableReplicas {
			return true
		}
	}
	return false
}

// whileDown ends the program, takes steps, and starts it again.
func whileDown(steps ...step) step {
	return func(s *stage) {
		s.endPrograms()
		for _, step := range steps {
			step(s)
		}
		check(s.startProgram())
	}
}

// restarted ends the program and starts it again. A new Foo shows when it has begun to
// work; then no other object may have been written.
func restarted(s *stage) {
	begin := time.Now()
	whileDown()(s)
	s.take(createFoo("probe", "probe", 1), converged, silent)
	writes := slices.DeleteFunc(s.writesSince(begin), func(r request) bool { return r.Target.Name == "" || r.Target.Name == "probe" })
	if len(writes) > 0 {
		s.find(found(P2, noisy, time.Now(), "The program was started again, and nothing had changed. It has sent %d writes for objects that are as asked. The first: %s", len(writes), writes[0].String()))
	}
}

// staysAlone waits, and then no Foo may control a Deployment: P4. One that was made by a
// program that did not yet know of the deletion is forgiven; it is deleted, and must not
// come again.
func staysAlone(name string) step {
	return func(s *stage) {
		var d *appsv1.Deployment
		for range 2 {
			s.take(wait(2*time.Second), deleteDeployment(name), wait(3*time.Second))
			if d = s.history.deployment(name); d == nil || d.DeletionTimestamp != nil {
				return
			}
		}
		s.find(found(P4, forTheDying, time.Now(), "The Foo has a deletionTimestamp, and a finalizer holds it. Its Deployment %s was deleted, and the program has made it again, twice (revision %s).", name, d.ResourceVersion))
	}
}

func (h *history) foo(name string) *v1alpha1.Foo {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.foos[name]
}

func (h *history) deployment(name string) *appsv1.Deployment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.deployments[name]
}

// freed waits until the program has seen that Foos are being deleted. Then it sets their Deployments free as
// the garbage collector does, which can be faster than the program where there is one, and waits some
// time, in which the program could do them harm.
func freed(names ...string) step {
	return func(s *stage) {
		s.pause(3 * time.Second)
		for _, name := range names {
			switch d := s.history.deployment(name); {
			case d == nil:
				s.fail(found(P5, foreign, time.Now(), "The Foo was deleted so that its Deployment stays. The Deployment %s is gone.", name))
			case oracle.ControllerOf(d) != "":
				patchDeployment(name, object{"metadata": object{"ownerReferences": nil}})(s)
				patchFoo(name, object{"metadata": object{"finalizers": nil}})(s)
			}
		}
		s.pause(3 * time.Second)
	}
}

// until waits for what the controllers of Kubernetes do with a Deployment.
func until(name, what string, is func(d *appsv1.Deployment) bool) step {
	return func(s *stage) {
		s.needs(s.bound, func() bool {
			d := s.history.deployment(name)
			return d != nil && is(d)
		}, fmt.Sprintf("Deployment %s is not %s after %s", name, what, s.bound))
	}
}

// isStuck: its ReplicaSet is refused, for example.
func isStuck(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}

// claimsNothing waits until no condition Ready of a Foo is True, while its Deployment is not
// complete. A Foo without the condition claims nothing.
func claimsNothing(name string) step {
	return func(s *stage) {
		var foo *v1alpha1.Foo
		var d *appsv1.Deployment
		s.within(s.bound, func() bool {
			foo = s.history.foo(name)
			d = s.history.deployment(foo.Spec.DeploymentName)
			return d == nil || oracle.Complete(d) || !meta.IsStatusConditionTrue(foo.Status.Conditions, "Ready")
		}, func() finding {
			return found(P1, claimed, time.Now(), "The condition Ready of Foo %s (revision %s) is True. Deployment %s (revision %s) asks for %d replicas and has %d, %d of them of its template, %d available.",
				name, foo.ResourceVersion, d.Name, d.ResourceVersion, oracle.Replicas(d), d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas)
		})
	}
}

// deleteNamespace deletes the namespace of the stage and waits until it is gone.
func deleteNamespace(s *stage) {
	begin, namespaces := time.Now(), s.kube.CoreV1().Namespaces()
	check(namespaces.Delete(s.ctx, s.namespace, metav1.DeleteOptions{}))
	s.within(s.bound, func() bool {
		_, err := namespaces.Get(s.ctx, s.namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, func() finding {
		return found(P4, orphaned, time.Now(), "The namespace was deleted, and after %s it is still there.", s.bound)
	})
	s.fewFailures(begin, 40)
}

// many creates n Foos at once.
func many(n int) step {
	return func(s *stage) {
		errs := make([]error, n)
		workqueue.ParallelizeUntil(context.Background(), 16, n, func(i int) {
			name := fmt.Sprintf("foo-%04d", i)
			errs[i] = try(func() { createFoo(name, name, 1)(s) })
		})
		check(cmp.Or(errs...))
	}
}
