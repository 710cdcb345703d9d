package main

import (
	"math/rand"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// What a client sends and receives is a runtime.Object.
var _, _ runtime.Object = &At{}, &AtList{}

// TestRoundTrip lets apimachinery's own test loose on the kinds: a copy shares no memory with
// its original, and JSON and back loses nothing. A field that is added tomorrow is tested
// tomorrow.
func TestRoundTrip(t *testing.T) {
	scheme, version := runtime.NewScheme(), schema.GroupVersion{Group: "cnat.programming-kubernetes.info", Version: "v1alpha1"}
	scheme.AddKnownTypes(version, &At{}, &AtList{})
	metav1.AddToGroupVersion(scheme, version)
	codecs := serializer.NewCodecFactory(scheme)
	random := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs)
	roundtrip.RoundTripExternalTypesWithoutProtobuf(t, scheme, codecs, random, nil)
}

// TestDeepCopyOfPointers: TestRoundTrip fills in no RemainingItemCount, and cannot change what
// is in a time.
func TestDeepCopyOfPointers(t *testing.T) {
	at := &At{Status: AtStatus{StartTime: &metav1.Time{}, CompletionTime: &metav1.Time{}}}
	list := &AtList{ListMeta: metav1.ListMeta{RemainingItemCount: new(int64(1))}}
	copied, copiedList := at.DeepCopy(), list.DeepCopyObject().(*AtList)
	if copied.Status.StartTime == at.Status.StartTime || copied.Status.CompletionTime == at.Status.CompletionTime ||
		copiedList.RemainingItemCount == list.RemainingItemCount {
		t.Error("a pointer is shared")
	}
}

// TestDeepCopyKeepsNilAndEmpty: null and [] differ on the wire.
func TestDeepCopyKeepsNilAndEmpty(t *testing.T) {
	for _, original := range []runtime.Object{
		&At{},
		&At{Spec: AtSpec{Containers: []AtContainer{}}},
		&At{Spec: AtSpec{Containers: []AtContainer{{Command: []string{}, Args: []string{}}}}},
		&AtList{},
		&AtList{Items: []At{}},
	} {
		if copied := original.DeepCopyObject(); !reflect.DeepEqual(original, copied) {
			t.Errorf("the copy of %#v is %#v", original, copied)
		}
	}
	if (*At)(nil).DeepCopyObject() != nil || (*AtList)(nil).DeepCopyObject() != nil {
		t.Error("the copy of nil is not nil")
	}
}
