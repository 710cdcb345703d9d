package court

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	return elsewhere(func(s *stage) { s.lax = true }, func(s *stage) { s.lax = false }, append([]step{makeFoo("without-spec", nil)}, steps...), func(s *stage) error {
		patch := []byte(`[{"op": "replace", "path": "/spec/versions/0/schema", "value": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
			{"op": "replace", "path": "/spec/versions/0/subresources", "value": {"status": {}}}]`)
		if _, err := s.dynamic.Resource(crdResource).Patch(s.ctx, fooCRD, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		// The API server takes a moment.
		var refused error
		admitted, err := s.await(30*time.Second, func() bool {
			refused = makeFoo("without-spec", nil)(s)
			return refused == nil
		})
		if err == nil && !admitted {
			err = fmt.Errorf("the API server still has the schema: %w", refused)
		}
		if err != nil {
			return err
		}
		err = s.take(steps)
		// Before the schema comes back: with it, a bad Foo could not even be deleted if it
		// has a finalizer.
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		return errors.Join(err, s.dropFoos(ctx), s.plane.Install())
	})
}

// dropFoos deletes the Foos, also those that a finalizer of the program holds.
func (s *stage) dropFoos(ctx context.Context) error {
	foos := s.foos(s.namespace)
	if err := foos.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	left, err := foos.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range left.Items {
		_, err := foos.Patch(ctx, left.Items[i].GetName(), mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if ignoreNotFound(err) != nil {
			return err
		}
	}
	return nil
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
	return func(s *stage) error {
		for i, spec := range specs {
			if err := makeFoo(fmt.Sprintf("bad-%d", i), spec)(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// crowd creates n Foos that ask for one name, that of a Deployment without a controller.
func crowd(n int) step {
	return func(s *stage) error {
		if err := foreignDeployment("taken", false)(s); err != nil {
			return err
		}
		for i := range n {
			if err := createFoo(fmt.Sprintf("crowd-%03d", i), "taken", 1)(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// slowWebhook takes steps beside n Foos whose Deployments a webhook refuses at once until each was
// tried thrice, and from then on after 10 s. So what hangs are retries: no change is among them.
func slowWebhook(n int, steps ...step) step {
	return func(s *stage) error {
		var hangs atomic.Bool
		var mu sync.Mutex
		tries, thrice, over := map[string]int{}, 0, make(chan struct{})
		defer s.proxy.Intercept(nil)
		defer close(over)
		s.proxy.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if !writesDeployment(r) {
				return false
			}
			body, err := io.ReadAll(r.Body)
			slow := string(slowName.Find(append([]byte(r.URL.Path), body...)))
			if r.Body = io.NopCloser(bytes.NewReader(body)); err != nil || slow == "" {
				return err != nil
			}
			if hangs.Load() {
				select {
				case <-time.After(10 * time.Second):
				case <-r.Context().Done():
				case <-over:
				}
			}
			mu.Lock()
			if tries[slow]++; tries[slow] == 3 {
				thrice++
			}
			if thrice == n {
				hangs.Store(true)
			}
			mu.Unlock()
			return answer(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "failed calling webhook: context deadline exceeded")
		})
		for i := range n {
			name := fmt.Sprintf("slow-%03d", i)
			if err := createFoo(name, name, 1)(s); err != nil {
				return err
			}
		}
		if _, err := s.await(s.bound, hangs.Load); err != nil {
			return err
		}
		hangs.Store(true) // Even if the program tries seldom.
		return s.take(steps)
	}
}

var slowName = regexp.MustCompile(`slow-\d{3}`)

// goodAlone measures how long good Foos take, one after the other.
func goodAlone(s *stage) (err error) {
	s.alone, err = s.goodFoos("alone")
	return err
}

// goodBeside fails if good Foos take longer beside bad ones than alone: P8.
func goodBeside(s *stage) error {
	// First the program sees the bad ones; if that does not end, it is what is measured.
	_, err := s.await(15*time.Second, func() bool {
		return len(s.requests(time.Now().Add(-time.Second), func(r request) bool { return !r.Watch })) == 0
	})
	if err != nil {
		return err
	}
	took, err := s.goodFoos("beside")
	if err != nil {
		return err
	}
	s.remark("a good Foo takes %s alone, %s beside bad ones", s.alone.Round(time.Millisecond), took.Round(time.Millisecond))
	if took > 5*s.alone+2*time.Second {
		s.find(found(P8, delayed, time.Now(), "A good Foo gets its Deployment after %s; alone it was %s.", took.Round(time.Millisecond), s.alone.Round(time.Millisecond)))
	}
	return nil
}

// goodFoos creates three good Foos, one after the other, and returns the longest time until
// one has its Deployment.
func (s *stage) goodFoos(name string) (longest time.Duration, err error) {
	for i := range 3 {
		good := fmt.Sprintf("%s-%d", name, i)
		begin := s.canary.now()
		if err := createFoo(good, good, 1)(s); err != nil {
			return 0, err
		}
		made, err := s.await(s.bound, func() bool { return s.history.deployment(good) != nil || s.exitsTooOften() })
		switch {
		case err != nil:
			return 0, err
		case !made:
			s.find(found(P1|P8, delayed, time.Now(), "Foo %s asks for Deployment %s. There is none after %s.", good, good, s.bound))
			return 0, errShort
		case s.exitsTooOften():
			return 0, errShort
		}
		longest = max(longest, s.canary.now()-begin)
	}
	return longest, nil
}

// mended gives each bad Foo a spec that is good.
func mended(s *stage) error {
	foos, _ := s.history.names()
	slices.Sort(foos)
	for _, name := range foos {
		if strings.HasPrefix(name, "bad-") || name == "without-spec" {
			if err := changeFoo(name, object{"deploymentName": name, "replicas": 1})(s); err != nil {
				return err
			}
		}
	}
	return nil
}
