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
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/internal/tests"
)

// Without streaming lists, no list may be stale: neither the first one, nor one after a failure or a
// 410. The test checks the requests, because a server in memory has no stale data.
func TestNoListIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tests.NewAPIServer()
		for i := range 600 { // more than one page
			s.Add(fmt.Sprint(podPath, i), &unstructured.Unstructured{Object: map[string]any{}})
		}
		var lists []url.Values
		failures := 1
		s.Refuse(func(r *http.Request) *apierrors.StatusError {
			query := r.URL.Query()
			switch {
			case query.Has("sendInitialEvents"):
				return apierrors.NewInvalid(schema.GroupKind{}, "", nil)
			case query.Has("watch"):
				return nil
			}
			lists = append(lists, query)
			if failures--; failures >= 0 {
				return apierrors.NewInternalError(fmt.Errorf("once"))
			}
			return nil
		})
		pods := running(t.Context(), t, s, newPods)
		time.Sleep(time.Minute) // longer than any back-off
		seen := s.Latest()
		release := s.HoldWatches("pods")
		s.Remove(podPath + "0")
		s.CutWatches("pods")
		s.Compact()
		release()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := len(pods.Store.ListKeys()); got != 599 {
			t.Errorf("%d Pods in the store, want 599", got)
		}
		// After the 410, the list must not be older than the last seen version. With a limit it
		// would be exactly that version.
		want := []url.Values{{}, {}, {"resourceVersion": {seen}}}
		if diff := cmp.Diff(want, lists); diff != "" {
			t.Errorf("lists (-want +got):\n%s", diff)
		}
	})
}
