package scenario

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
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// converged waits until the state is as required. A calibrating scenario also sets the bound to ten times
// that wait, if it is longer.
func converged(s *stage.Stage) {
	begin := s.Canary.Now()
	s.Converge(s.Bound)
	if s.Scenario.Calibrates {
		s.Bound = max(s.Bound, 10*(s.Canary.Now()-begin))
	}
}

func Wait(d time.Duration) stage.Step { return func(s *stage.Stage) { s.Pause(d) } }

// idle fails if the program writes anything for this time: P2.
func idle(d time.Duration) stage.Step {
	return func(s *stage.Stage) {
		// Try again if another client has changed something meanwhile.
		for tries := 0; ; tries++ {
			begin, changes := time.Now(), s.History.Changes()
			s.Pause(d)
			writes := s.WritesSince(begin)
			if len(writes) == 0 {
				return
			}
			if tries > 0 || !s.History.StatusChangedSince(changes) {
				s.Find(verdict.Found(P2, verdict.Noisy, time.Now(), "Nothing happened for %s, but the program sent %d writes. The first: %s", d, len(writes), writes[0].String()))
				return
			}
		}
	}
}

// WhileDown stops the program, takes steps, and starts it again.
func WhileDown(steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		s.EndPrograms()
		for _, step := range steps {
			step(s)
		}
		stage.Check(s.StartProgram())
	}
}

// restarted restarts the program and creates a new Foo, which shows when the program works again. By then the
// program must have written no other object.
func restarted(s *stage.Stage) {
	begin := time.Now()
	WhileDown()(s)
	s.Take(createFoo("probe", "probe", 1), converged, stage.Silent)
	writes := slices.DeleteFunc(s.WritesSince(begin), func(r verdict.Request) bool { return r.Target.Name == "" || r.Target.Name == "probe" })
	if len(writes) > 0 {
		s.Find(verdict.Found(P2, verdict.Noisy, time.Now(), "The program was restarted and nothing had changed, but it sent %d writes of objects that are already as desired. The first: %s", len(writes), writes[0].String()))
	}
}

// staysAlone deletes the Deployment of a Foo that is being deleted. The program must not make it again: P4.
// The first time is forgiven, because the program may not have received the deletion of the Foo.
func staysAlone(name string) stage.Step {
	return func(s *stage.Stage) {
		var d *appsv1.Deployment
		for range 2 {
			s.Take(Wait(2*time.Second), deleteDeployment(name), Wait(3*time.Second))
			if d = s.History.Deployment(name); d == nil || d.DeletionTimestamp != nil {
				return
			}
		}
		s.Find(verdict.Found(P4, verdict.ForTheDying, time.Now(), "The Foo has a deletionTimestamp, and a finalizer keeps it. Its Deployment %s was deleted, and the program recreated it twice (revision %s).", name, d.ResourceVersion))
	}
}

// freed waits until the program has seen the deletion of Foos. Then it removes their Deployments' owner
// references, as the garbage collector would. (A real one can be faster than the program.) Then it waits
// again: the program must not harm the Deployments.
func freed(names ...string) stage.Step {
	return func(s *stage.Stage) {
		s.Pause(3 * time.Second)
		for _, name := range names {
			switch d := s.History.Deployment(name); {
			case d == nil:
				s.Fail(verdict.Found(P5, verdict.Freed, time.Now(), "The Foo was deleted with the propagation policy Orphan, but its Deployment %s is gone.", name))
			case oracle.ControllerOf(d) != "":
				patchDeployment(name, stage.Object{"metadata": stage.Object{"ownerReferences": nil}})(s)
				patchFoo(name, stage.Object{"metadata": stage.Object{"finalizers": nil}})(s)
			}
		}
		s.Pause(3 * time.Second)
	}
}

// until waits until the controllers of Kubernetes have brought a Deployment into a state.
func until(name, what string, is func(d *appsv1.Deployment) bool) stage.Step {
	return func(s *stage.Stage) {
		s.Needs(s.Bound, func() bool {
			d := s.History.Deployment(name)
			return d != nil && is(d)
		}, fmt.Sprintf("Deployment %s is not %s after %s", name, what, s.Bound))
	}
}

// isStuck reports whether a Deployment makes no progress, for example because its ReplicaSet is rejected.
func isStuck(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}

// claimsNothing waits until a Foo is not Ready, or its Deployment is complete. A Foo without the
// condition passes.
func claimsNothing(name string) stage.Step {
	return func(s *stage.Stage) {
		var foo *v1alpha1.Foo
		var d *appsv1.Deployment
		s.Within(s.Bound, func() bool {
			foo = s.History.Foo(name)
			d = s.History.Deployment(foo.Spec.DeploymentName)
			return d == nil || oracle.Complete(d) || !meta.IsStatusConditionTrue(foo.Status.Conditions, "Ready")
		}, func() verdict.Finding {
			return verdict.Found(P1, verdict.Claimed, time.Now(), "The condition Ready of Foo %s (revision %s) is True. Deployment %s (revision %s) asks for %d replicas. It has %d: %d are up to date, %d are available.",
				name, foo.ResourceVersion, d.Name, d.ResourceVersion, oracle.Replicas(d), d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas)
		})
	}
}

func deleteNamespace(s *stage.Stage) {
	begin, namespaces := time.Now(), s.Kube.CoreV1().Namespaces()
	stage.Check(namespaces.Delete(s.Ctx, s.Namespace, metav1.DeleteOptions{}))
	s.Within(s.Bound, func() bool {
		_, err := namespaces.Get(s.Ctx, s.Namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, func() verdict.Finding {
		return verdict.Found(P4, verdict.Orphaned, time.Now(), "The namespace was deleted, but still exists after %s.", s.Bound)
	})
	fewFailures(s, begin, 40)
}

// many creates n Foos in parallel.
func many(n int) stage.Step {
	return func(s *stage.Stage) {
		errs := make([]error, n)
		workqueue.ParallelizeUntil(context.Background(), 16, n, func(i int) {
			name := fmt.Sprintf("foo-%04d", i)
			errs[i] = stage.Try(func() { createFoo(name, name, 1)(s) })
		})
		stage.Check(cmp.Or(errs...))
	}
}
