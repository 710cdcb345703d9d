package scenario

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// fooCRD is the name of the CRD of Foos.
const fooCRD = "foos.samplecontroller.k8s.io"

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// withoutSchema takes steps while the API server admits any Foo.
func withoutSchema(steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		if s.Api != nil {
			s.Lax = true
			defer func() { s.Lax = false }()
			s.Take(append([]stage.Step{MakeFoo("without-spec", nil)}, steps...)...)
			return
		}
		patch := []byte(`[{"op": "replace", "path": "/spec/versions/0/schema", "value": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
			{"op": "replace", "path": "/spec/versions/0/subresources", "value": {"status": {}}}]`)
		stage.Must(s.Dynamic.Resource(crdResource).Patch(s.Ctx, fooCRD, types.JSONPatchType, patch, metav1.PatchOptions{}))
		// The API server takes a moment.
		var refused error
		if !s.Await(30*time.Second, func() bool {
			refused = stage.Try(func() { MakeFoo("without-spec", nil)(s) })
			return refused == nil
		}) {
			stage.Check(fmt.Errorf("the API server still validates against the schema: %w", refused))
		}
		defer func() { stage.Check(s.Plane.Install()) }()
		// Before the schema is restored: with it, a bad Foo with a finalizer could not be deleted.
		defer dropFoos(s)
		s.Take(steps...)
	}
}

// dropFoos deletes the Foos, including ones that a finalizer of the program holds.
func dropFoos(s *stage.Stage) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	foos := s.Foos(s.Namespace)
	stage.Check(foos.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	for _, left := range stage.Must(foos.List(ctx, metav1.ListOptions{})).Items {
		_, err := foos.Patch(ctx, left.GetName(), stage.MergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		stage.Check(IgnoreNotFound(err))
	}
}

// badValues are Foos with valid types, but with values that no Deployment can fulfill.
var badValues = badFoos(
	stage.Object{},
	stage.Object{"replicas": int64(1)},
	stage.Object{"deploymentName": "", "replicas": int64(1)},
	stage.Object{"deploymentName": "Not A Name!", "replicas": int64(1)},
	stage.Object{"deploymentName": "../../default/deployments/x", "replicas": int64(1)},
	stage.Object{"deploymentName": strings.Repeat("x", 300), "replicas": int64(1)},
	stage.Object{"deploymentName": "negative", "replicas": int64(-1)},
)

// badTypes are Foos that the Go type cannot hold.
var badTypes = badFoos(
	stage.Object{"deploymentName": "word-for-number", "replicas": "three"},
	stage.Object{"deploymentName": int64(12), "replicas": int64(1)},
	"a spec",
)

func badFoos(specs ...any) stage.Step {
	return func(s *stage.Stage) {
		for i, spec := range specs {
			MakeFoo(fmt.Sprintf("bad-%d", i), spec)(s)
		}
	}
}

// crowd creates n Foos that ask for the name of one Deployment without a controller.
func crowd(n int) stage.Step {
	return func(s *stage.Stage) {
		foreignDeployment("taken", false)(s)
		for i := range n {
			createFoo(fmt.Sprintf("crowd-%03d", i), "taken", 1)(s)
		}
	}
}

// slowWebhook takes steps while a webhook rejects the Deployments of n Foos. It rejects them at once until
// each was tried three times, and then after 10 s. So the hanging requests are retries, not changes.
func slowWebhook(n int, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		var hangs atomic.Bool
		var mu sync.Mutex
		tries, over := map[string]int{}, make(chan struct{})
		defer s.Proxy.Intercept(nil)
		defer close(over)
		s.Proxy.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if !WritesMade(s, r) {
				return false
			}
			slow := string(slowName.Find(append([]byte(r.URL.Path), stage.ReadBody(r)...)))
			if slow == "" {
				return false
			}
			if hangs.Load() {
				select {
				case <-time.After(10 * time.Second):
				case <-r.Context().Done():
				case <-over:
				}
			}
			mu.Lock()
			tries[slow]++
			if len(tries) == n && slices.Min(slices.Collect(maps.Values(tries))) >= 3 {
				hangs.Store(true)
			}
			mu.Unlock()
			return answer(w, http.StatusInternalServerError, "failed calling webhook: context deadline exceeded")
		})
		for i := range n {
			name := fmt.Sprintf("slow-%03d", i)
			createFoo(name, name, 1)(s)
		}
		s.Await(s.Bound, hangs.Load)
		hangs.Store(true) // Even if the program rarely retries.
		s.Take(steps...)
	}
}

var slowName = regexp.MustCompile(`slow-\d{3}`)

// goodAlone measures how long good Foos take when there are no bad ones.
func goodAlone(s *stage.Stage) { s.Alone = goodFoos(s, "alone") }

// goodBeside fails if bad Foos delay good ones: P8.
func goodBeside(s *stage.Stage) {
	// Let the program process the bad Foos first. If that does not end, the measurement includes it.
	s.Await(15*time.Second, func() bool {
		return len(s.Requests(time.Now().Add(-time.Second), func(r verdict.Request) bool { return !r.Watch })) == 0
	})
	took := goodFoos(s, "beside")
	s.Remark("a good Foo takes %s alone, %s with bad ones", s.Alone.Round(time.Millisecond), took.Round(time.Millisecond))
	if took > 5*s.Alone+2*time.Second {
		s.Find(verdict.Found(P8, verdict.Delayed, time.Now(), "A good Foo gets its Deployment after %s; without bad Foos it takes %s.", took.Round(time.Millisecond), s.Alone.Round(time.Millisecond)))
	}
}

// goodFoos creates three good Foos, one after the other, and returns the longest time until one has its
// Deployment.
func goodFoos(s *stage.Stage, name string) (longest time.Duration) {
	for i := range 3 {
		good := fmt.Sprintf("%s-%d", name, i)
		begin := s.Canary.Now()
		createFoo(good, good, 1)(s)
		s.Within(s.Bound, func() bool { return s.History.Deployment(good) != nil }, func() verdict.Finding {
			return verdict.Found(P1|P8, verdict.Delayed, time.Now(), "Foo %s asks for Deployment %s, which does not exist after %s.", good, good, s.Bound)
		})
		longest = max(longest, s.Canary.Now()-begin)
	}
	return longest
}

// Each bad Foo gets a good spec.
func mended(s *stage.Stage) {
	foos, _ := s.History.Names()
	slices.Sort(foos)
	for _, name := range foos {
		if strings.HasPrefix(name, "bad-") || name == "without-spec" {
			changeFoo(name, stage.Object{"deploymentName": name, "replicas": 1})(s)
		}
	}
}
