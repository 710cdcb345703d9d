package main

import (
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// What a client sends and receives is a runtime.Object.
var _, _ runtime.Object = &At{}, &AtList{}

// TestDeepCopy fills every field and compares the copy with the original. A field that is
// added tomorrow is tested tomorrow.
func TestDeepCopy(t *testing.T) {
	for _, original := range []runtime.Object{&At{}, &AtList{}} {
		fill(original)
		copied := original.DeepCopyObject()
		if diff := cmp.Diff(original, copied); diff != "" {
			t.Errorf("the copy differs (-original +copy):\n%s", diff)
		}
		for _, path := range shared(original, copied) {
			t.Errorf("%s is shared", path)
		}
	}
	if (*At)(nil).DeepCopyObject() != nil || (*AtList)(nil).DeepCopyObject() != nil {
		t.Error("the copy of nil is not nil")
	}
}

// TestDeepCopyKeepsNilAndEmpty: null and [] differ on the wire.
func TestDeepCopyKeepsNilAndEmpty(t *testing.T) {
	for _, original := range []*At{
		{},
		{Spec: AtSpec{Containers: []AtContainer{}}},
		{Spec: AtSpec{Containers: []AtContainer{{Command: []string{}, Args: []string{}}}}},
	} {
		if copied := original.DeepCopy(); !reflect.DeepEqual(original, copied) {
			t.Errorf("the copy of %#v is %#v", original.Spec, copied.Spec)
		}
	}
	for _, original := range []*AtList{{}, {Items: []At{}}} {
		if copied := original.DeepCopyObject(); !reflect.DeepEqual(original, copied) {
			t.Errorf("the copy of %#v is %#v", original, copied)
		}
	}
}

// fill puts something into every field.
func fill(object any) {
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	random := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(), rand.NewSource(1), codecs).NilChance(0).NumElements(1, 3)
	random.Fill(object)
	// It passes over nil pointers to types that fill themselves.
	ats := []*At{}
	switch object := object.(type) {
	case *At:
		ats = append(ats, object)
	case *AtList:
		for i := range object.Items {
			ats = append(ats, &object.Items[i])
		}
	}
	for _, at := range ats {
		for _, missing := range []**metav1.Time{&at.Status.StartTime, &at.Status.CompletionTime, &at.DeletionTimestamp} {
			*missing = &metav1.Time{Time: time.Unix(1, 0)}
		}
	}
}

// shared returns the paths of the pointers, slices and maps that two objects have in common.
func shared(original, copied any) (paths []string) {
	owned := map[uintptr]bool{}
	eachReference("", reflect.ValueOf(original).Elem(), func(_ string, v reflect.Value) { owned[v.Pointer()] = true })
	name := reflect.TypeOf(original).Elem().Name()
	eachReference(name, reflect.ValueOf(copied).Elem(), func(path string, v reflect.Value) {
		if owned[v.Pointer()] {
			paths = append(paths, path)
		}
	})
	return paths
}

// eachReference calls visit for every pointer, slice and map that can be reached from v.
func eachReference(path string, v reflect.Value, visit func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(path, v)
			eachReference(path, v.Elem(), visit)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			visit(path, v)
		}
		for i := range v.Len() {
			eachReference(fmt.Sprintf("%s[%d]", path, i), v.Index(i), visit)
		}
	case reflect.Map:
		visit(path, v)
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				eachReference(path+"."+field.Name, value, visit)
			}
		}
	}
}
