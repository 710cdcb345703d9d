package main_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/kit/deepcopy"
)

// All readers of a store share its objects. A copy made with = shares the maps, slices and pointers of the
// original, so a write to the copy changes the object in the store.
func TestCopyOfALabel(t *testing.T) {
	project := &v1alpha1.Project{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"stage": "test"}}}

	shallow := *project
	shallow.Labels["stage"] = "production"
	if project.Labels["stage"] != "production" {
		t.Error("copying a struct with = copies its map: DeepCopy would not be needed")
	}

	deep := project.DeepCopy()
	deep.Labels["stage"] = "test"
	if project.Labels["stage"] != "production" {
		t.Error("DeepCopy shares the map of labels with the original")
	}
}

// The same for each pointer, slice and map of each registered kind. Package deepcopy explains each test.

func TestDeepCopyEqualsOriginal(t *testing.T)   { deepcopy.EqualsOriginal(t, clientset.Scheme) }
func TestDeepCopySharesNoMemory(t *testing.T)   { deepcopy.SharesNoMemory(t, clientset.Scheme) }
func TestDeepCopyKeepsNilAndEmpty(t *testing.T) { deepcopy.KeepsNilAndEmpty(t, clientset.Scheme) }
func TestDeepCopyOfNil(t *testing.T)            { deepcopy.OfNil(t, clientset.Scheme) }
func TestRoundTrip(t *testing.T)                { deepcopy.RoundTrip(t, clientset.Scheme) }
