package informer_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/informer"
	"example.com/byhand/kit/testkit"
)

// Where streaming lists are refused, no list may be old: not the first one, not the one after a
// failure, not the one after a 410. What counts is what is asked for: a server in memory has
// nothing old to answer with.
func TestNoListIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewAPIServer()
		const path = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/"
		for i := range 600 { // more than a page
			s.Add(fmt.Sprint(path, i), &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"deploymentName": "d"}}})
		}
		var lists []url.Values
		failures := 1
		s.Refuse(func(r *http.Request) *apierrors.StatusError {
			query := r.URL.Query()
			switch {
			case query.Has("sendInitialEvents"):
				return apierrors.NewInvalid(v1alpha1.Kind("Foo"), "", nil)
			case query.Has("watch"):
				return nil
			}
			lists = append(lists, query)
			if failures--; failures >= 0 {
				return apierrors.NewInternalError(fmt.Errorf("once"))
			}
			return nil
		})
		foos := informer.NewFoos(clientset.NewForConfigOrDie(s.Config()), "", 0, cache.ResourceEventHandlerFuncs{})
		go foos.Run(t.Context())
		time.Sleep(time.Minute) // longer than any back-off
		seen := s.Latest()
		s.Remove(path + "0")
		s.CutWatches("foos")
		s.Compact()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := len(foos.Store.ListKeys()); got != 599 {
			t.Errorf("%d Foos in the store, want 599", got)
		}
		// After the 410 one that is not older than what was seen. With a limit it would be one
		// of exactly that version.
		want := []url.Values{{}, {}, {"resourceVersion": {seen}}}
		if diff := cmp.Diff(want, lists); diff != "" {
			t.Errorf("lists (-want +got):\n%s", diff)
		}
	})
}
