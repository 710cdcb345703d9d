package informer_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
	"example.com/byhand/internal/tests"
	"example.com/byhand/internal/tests/quiet"
)

// An object that the Go type cannot hold stops the informer for its whole kind. The Store keeps its objects,
// and no deletion is reported. When a user corrects the object, the next list delivers all changes.
func TestUndecodableObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tests.NewAPIServer()
		put := func(name string, priority int64) {
			s.Add(podPath+name, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"priority": priority}}})
		}
		const tooLarge = 3_000_000_000 // for an int32
		put("one", 1)
		var heard []string
		_ = running(quiet.Context(t), t, s, func(o options) *informer.Informer {
			o.handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { heard = append(heard, "added "+obj.(metav1.Object).GetName()) },
				UpdateFunc: func(_, obj any) { heard = append(heard, "updated "+obj.(metav1.Object).GetName()) },
				DeleteFunc: func(any) { heard = append(heard, "deleted") },
			}
			return newPods(o)
		})
		hears := func(when string, want ...string) {
			t.Helper()
			time.Sleep(10 * time.Minute) // longer than any back-off
			synctest.Wait()
			slices.Sort(heard)
			if diff := cmp.Diff(want, heard); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
			heard = nil
		}
		hears("at first", "added one")
		put("one", tooLarge)
		put("two", 1)
		hears("with an object that cannot be decoded")
		put("one", 2)
		hears("when it is corrected", "added two", "updated one")
	})
}
