//go:build long

package e2e

import (
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

var (
	seed  = flag.Int64("seed", 0, "seed of what is random; 0: another one each time")
	steps = flag.Int("steps", 150, "how many steps each writer of a random sequence takes")
)

// newSeed returns the seed of a test, which is printed if the test fails.
func newSeed(t *testing.T) int64 {
	t.Helper()
	chosen := *seed
	if chosen == 0 {
		chosen = time.Now().UnixNano()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("try again with -run '^%s$' -seed %d", t.Name(), chosen)
		}
	})
	return chosen
}

// Several people create, scale, rename and delete Foos that contend for a few
// names, and meddle with the Deployments, while the controller works, is killed,
// and works again. When they have stopped, each Foo has the one Deployment that
// it names or says that somebody else has it, nothing is left over, nothing of
// somebody else was touched, and nobody writes any more.
func TestRandomSequences(t *testing.T) {
	patience(t, 3*time.Minute)
	chosen := newSeed(t)
	s := newServer(t)
	j := newJournal(t)
	h := s.record()
	first := s.controller("--resync", "0")

	var working sync.WaitGroup
	const people = 4
	for i := range people {
		w := &writer{server: s, journal: j, name: fmt.Sprintf("writer-%d", i), random: rand.New(rand.NewSource(chosen + int64(i)))}
		working.Go(w.work)
	}
	s.eventually("half of the work is done", func() error {
		if done := j.len(); done < people**steps/2 {
			return fmt.Errorf("%d steps", done)
		}
		return nil
	})
	first.Signal(syscall.SIGKILL)
	first.Exit()
	second := s.controller("--resync", "0")
	working.Wait()

	s.eventually("all is as it should be", s.atRest)
	second.Stop()
	h.complete()
	h.onlyOwn(j)
	foos, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, foo := range foos.Items {
		names = append(names, foo.Name)
	}
	s.settles(names...)
	t.Logf("seed %d: %d steps, %d Deployments in %d versions, %d Foos in the end", chosen, j.len(), len(h.versions), h.len(), len(names))
}

// patience sets how long this test waits for what must happen.
func patience(t *testing.T, long time.Duration) {
	usual := deadline
	deadline = long
	t.Cleanup(func() { deadline = usual })
}

// onlyOwn fails the test if anybody but the writers has changed or deleted a
// Deployment that was no Foo's at that time.
func (h *history) onlyOwn(j *journal) {
	h.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for uid, versions := range h.versions {
		for i, after := range versions[1:] {
			before := versions[i]
			if isFoos(before) || before.Annotations[markAnnotation] != after.Annotations[markAnnotation] {
				continue
			}
			if diff := cmp.Diff(foreignPart(before), foreignPart(after)); diff != "" {
				h.Errorf("Deployment %s was no Foo's at version %s, and changed at version %s:\n%s", before.Name, before.ResourceVersion, after.ResourceVersion, diff)
			}
		}
		if h.deleted[uid] && !j.deleted[uid] {
			h.mayBeDeleted(versions)
		}
	}
}

// mayBeDeleted fails the test unless a Deployment that no writer has deleted was
// the controller's or the garbage collector's to delete.
func (h *history) mayBeDeleted(versions []*appsv1.Deployment) {
	h.Helper()
	end := len(versions) - 1
	for i, version := range versions[1:] {
		if version.DeletionTimestamp != nil {
			end = i + 1 // deleted then, though gone only later
			break
		}
	}
	if before := versions[max(0, end-1)]; isFoos(before) {
		return
	}
	// Somebody has taken it away from its Foo. The collector may not have heard of
	// that yet, if the Foo is gone. The controller deletes for Foos that exist.
	for _, version := range slices.Backward(versions[:end]) {
		if !isFoos(version) {
			continue
		}
		going, known := h.going[metav1.GetControllerOf(version).UID]
		if order, err := resourceversion.CompareResourceVersion(going, versions[end].ResourceVersion); known && err == nil && order < 0 {
			return
		}
		break
	}
	h.Errorf("Deployment %s was no Foo's at version %s, and none of the writers deleted it", versions[end].Name, versions[end].ResourceVersion)
}

func (h *history) len() (versions int) {
	for _, each := range h.versions {
		versions += len(each)
	}
	return versions
}

func isFoos(deployment *appsv1.Deployment) bool {
	owner := metav1.GetControllerOf(deployment)
	return owner != nil && owner.Kind == "Foo"
}

// foreignPart is what nobody may change in a Deployment of somebody else. The
// controllers of Kubernetes write its status and annotations of their own.
func foreignPart(deployment *appsv1.Deployment) any {
	annotations := map[string]string{}
	for name, value := range deployment.Annotations {
		if strings.HasPrefix(name, v1alpha1.GroupName) {
			annotations[name] = value
		}
	}
	return []any{deployment.Spec, deployment.Labels, annotations, deployment.OwnerReferences}
}
