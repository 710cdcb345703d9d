package court

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
)

// fooCRD is the definition of Foos.
const fooCRD = "foos.samplecontroller.k8s.io"

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// withoutSchema takes steps while the API server admits any Foo.
func withoutSchema(steps ...step) step {
	return elsewhere(func(s *stage) { s.lax = true }, func(s *stage) { s.lax = false }, append([]step{makeFoo("without-spec", nil)}, steps...), func(s *stage) {
		patch := []byte(`[{"op": "replace", "path": "/spec/versions/0/schema", "value": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
			{"op": "replace", "path": "/spec/versions/0/subresources", "value": {"status": {}}}]`)
		must(s.dynamic.Resource(crdResource).Patch(s.ctx, fooCRD, types.JSONPatchType, patch, metav1.PatchOptions{}))
		// The API server takes a moment.
		var refused error
		if !s.await(30*time.Second, func() bool {
			refused = try(func() { makeFoo("without-spec", nil)(s) })
			return refused == nil
		}) {
			check(fmt.Errorf("the API server still has the schema: %w", refused))
		}
		defer func() { check(s.plane.Install()) }()
		// Before the schema comes back: with it, a bad Foo could not even be deleted if it
		// has a finalizer.
		defer s.dropFoos()
		s.take(steps...)
	})
}

// dropFoos deletes the Foos, also those that a finalizer of the program holds.
func (s *stage) dropFoos() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	foos := s.foos(s.namespace)
	check(foos.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	for _, left := range must(foos.List(ctx, metav1.ListOptions{})).Items {
		_, err := foos.Patch(ctx, left.GetName(), mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		check(ignoreNotFound(err))
	}
}

// badValues are Foos that no Deployment can fulfil, of the types of the schema.
var badValues = badFoos(
	object{},
	object{"replicas": int64(1)},
	object{"deploymentName": "", "replicas": int64(1)},
	object{"deploymentName": "Not A Name!", "replicas": int64(1)},
	object{"deploymentName": "../../default/deployments/x", "replicas": int64(1)},
	object{"deploymentName": strings.Repeat("x", 300), "replicas": int64(1)},
	object{"deploymentName": "negative", "replicas": int64(-1)},
)

// badTypes are Foos that the Go type cannot hold.
var badTypes = badFoos(
	object{"deploymentName": "word-for-number", "replicas": "three"},
	object{"deploymentName": int64(12), "replicas": int64(1)},
	"a spec",
)

func badFoos(specs ...any) step {
	return func(s *stage) {
		for i, spec := range specs {
			makeFoo(fmt.Sprintf("bad-%d", i), spec)(s)
		}
	}
}

// crowd creates n Foos that ask for one name, that of a Deployment without a controller.
func crowd(n int) step {
	return func(s *stage) {
		foreignDeployment("taken", false)(s)
		for i := range n {
			createFoo(fmt.Sprintf("crowd-%03d", i), "taken", 1)(s)
		}
	}
}

// slowWebhook takes steps beside n Foos whose Deployments a webhook refuses at once until each was
// tried thrice, and from then on after 10 s. So what hangs are retries: no change is among them.
func slowWebhook(n int, steps ...step) step {
	return func(s *stage) {
		var hangs atomic.Bool
		var mu sync.Mutex
		tries, over := map[string]int{}, make(chan struct{})
		defer s.proxy.Intercept(nil)
		defer close(over)
		s.proxy.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if !s.writesMade(r) {
				return false
			}
			slow := string(slowName.Find(append([]byte(r.URL.Path), readBody(r)...)))
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
		s.await(s.bound, hangs.Load)
		hangs.Store(true) // Even if the program tries seldom.
		s.take(steps...)
	}
}

var slowName = regexp.MustCompile(`slow-\d{3}`)

// goodAlone measures how long good Foos take, one after the other.
func goodAlone(s *stage) { s.alone = s.goodFoos("alone") }

// goodBeside fails if good Foos take longer beside bad ones than alone: P8.
func goodBeside(s *stage) {
	// First the program sees the bad ones; if that does not end, it is what is measured.
	s.await(15*time.Second, func() bool {
		return len(s.requests(time.Now().Add(-time.Second), func(r request) bool { return !r.Watch })) == 0
	})
	took := s.goodFoos("beside")
	s.remark("a good Foo takes %s alone, %s beside bad ones", s.alone.Round(time.Millisecond), took.Round(time.Millisecond))
	if took > 5*s.alone+2*time.Second {
		s.find(found(P8, delayed, time.Now(), "A good Foo gets its Deployment after %s; alone it was %s.", took.Round(time.Millisecond), s.alone.Round(time.Millisecond)))
	}
}

// goodFoos creates three good Foos, one after the other, and returns the longest time until
// one has its Deployment.
func (s *stage) goodFoos(name string) (longest time.Duration) {
	for i := range 3 {
		good := fmt.Sprintf("%s-%d", name, i)
		begin := s.canary.now()
		createFoo(good, good, 1)(s)
		s.within(s.bound, func() bool { return s.history.deployment(good) != nil }, func() finding {
			return found(P1|P8, delayed, time.Now(), "Foo %s asks for Deployment %s. There is none after %s.", good, good, s.bound)
		})
		longest = max(longest, s.canary.now()-begin)
	}
	return longest
}

// mended gives each bad Foo a spec that is good.
func mended(s *stage) {
	foos, _ := s.history.names()
	slices.Sort(foos)
	for _, name := range foos {
		if strings.HasPrefix(name, "bad-") || name == "without-spec" {
			changeFoo(name, object{"deploymentName": name, "replicas": 1})(s)
		}
	}
}
