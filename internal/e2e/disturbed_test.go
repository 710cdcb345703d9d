//go:build integration

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Somebody edits a Deployment as fast as possible. The controller corrects each edit
// once at most; a version that was refused is not sent again.
func TestEditedInALoop(t *testing.T) {
	t.Parallel()
	const edits = 200
	s := newServer(t)
	l := newLab(s, 0)
	stop := l.work(8)
	s.createFoo("foo", spec("deployment", 1))
	s.converges("foo", "deployment", 1)
	s.eventually("the rollout ends", s.atRest)
	h := s.record()
	before := h.versionsOf("deployment")[0]
	l.proxy.Requests()
	sent := l.countVersions()

	for i := range edits {
		s.patchDeployment("deployment", fmt.Sprintf(`{"spec":{"replicas":%d}}`, 2+i%2))
	}
	s.converges("foo", "deployment", 1)
	s.eventually("the last rollout ends", s.atRest)
	stop()
	h.complete()

	versions, count := h.versionsOf("deployment"), map[string]int{}
	for _, request := range l.proxy.Requests() {
		count[request]++
	}
	// Each edit is a new generation, and so is each time that it was mended.
	mended, changes := int(versions[len(versions)-1].Generation-before.Generation)-edits, len(versions)-1
	t.Logf("%d edits, %d versions of the Deployment: mended %d times, sent %v", edits, changes, mended, count)
	// One status speaks of one version.
	if statuses := count["PUT foos/foo/status"]; mended < 1 || mended > edits || statuses > changes || len(count) != 2 {
		t.Errorf("mended %d times and %d statuses, want at most %d and %d, and nothing else", mended, statuses, edits, changes)
	}
	for version, times := range sent {
		if times > 1 {
			t.Errorf("version %s was sent %d times", version, times)
		}
	}
	s.settles("foo")
}

// countVersions counts from now on how often the controller sends a Deployment of
// each resourceVersion. Read it when the controller has stopped.
func (l *lab) countVersions() map[string]int {
	var mu sync.Mutex
	sent := map[string]int{}
	l.proxy.Intercept(func(_ http.ResponseWriter, request *http.Request) bool {
		if version := versionIn(l.T, request); version != "" {
			mu.Lock()
			defer mu.Unlock()
			sent[version]++
		}
		return false
	})
	return sent
}

// versionIn returns the resourceVersion of the Deployment that a PUT carries, and
// "" of other requests.
func versionIn(t *testing.T, request *http.Request) string {
	if request.Method != http.MethodPut || !strings.Contains(request.URL.Path, "/deployments/") {
		return ""
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		t.Error(err)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	return object.(*appsv1.Deployment).ResourceVersion
}

// versionsOf returns the versions of the one Deployment that has had this name.
func (h *history) versionsOf(name string) []*appsv1.Deployment {
	h.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []*appsv1.Deployment
	for _, versions := range h.versions {
		if versions[0].Name != name {
			continue
		}
		if found != nil {
			h.Fatalf("there were two Deployments %s", name)
		}
		found = versions
	}
	return found
}

// A Deployment that somebody has taken away from a Foo is deleted no longer, though
// the controller has not heard of that yet.
func TestReleasedUnseen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l := newLab(s, 0)
	stop := l.work(1)
	s.createFoo("foo", spec("old", 1))
	s.converges("foo", "old", 1)
	s.eventually("the rollout ends", s.atRest)
	stop()

	release := l.proxy.HoldWatches("deployments")
	s.patchDeployment("old", `{"metadata":{"ownerReferences":null}}`)
	renamed := s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "new" })
	l.shows(l.foos, "foo", renamed.ResourceVersion)
	l.reconciles("foo")
	release()
	s.eventually("the Foo is ready", func() error {
		l.reconciles("foo")
		return s.atRest()
	})
	if old, err := s.deployment("old"); err != nil || old.DeletionTimestamp != nil {
		t.Errorf("the Deployment that is nobody's was deleted (%v)", err)
	}
}

// reconciles reconciles one Foo; that it must be tried again is no failure.
func (l *lab) reconciles(name string) {
	l.Helper()
	if _, err := l.reconciler.Reconcile(l.Context(), cache.NewObjectName(l.namespace, name)); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		l.Fatalf("reconcile %s: %v", name, err)
	}
}

// While the news that a Foo is gone is held up, its Deployment is made anew once,
// not each time that the garbage collector removes it.
func TestGoneUnseen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l := newLab(s, 0)
	stop := l.work(1)
	s.createFoo("foo", spec("deployment", 1))
	s.converges("foo", "deployment", 1)
	s.eventually("the rollout ends", s.atRest)
	stop()

	l.proxy.HoldWatches("foos")
	s.deleteFoo("foo")
	l.proxy.Requests()
	for range 3 {
		s.eventually("the collector removes the Deployment, and the store shows it", func() error {
			if _, err := s.deployment("deployment"); !apierrors.IsNotFound(err) {
				return fmt.Errorf("not yet: %v", err)
			}
			if n := len(l.deployments.Store.ListKeys()); n > 0 {
				return fmt.Errorf("the store has %d", n)
			}
			return nil
		})
		l.reconciles("foo")
	}
	if diff := cmp.Diff([]string{"POST deployments", "PUT foos/foo/status"}, l.proxy.Requests()); diff != "" {
		t.Errorf("requests for a Foo that is gone (-want +got):\n%s", diff)
	}
}
