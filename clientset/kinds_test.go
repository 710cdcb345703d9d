package clientset_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/tests/samples"
)

// kind is one of the kinds with which all tests of this package run, with its wire format.
type kind struct{ samples.Kind }

func eachKind(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range samples.All {
		t.Run(k.Plural, func(t *testing.T) { test(t, kind{k}) })
	}
}

func (k kind) objectWire() string {
	return k.typed(k.Kind.Kind, `"metadata": {"namespace": "shop", "name": "one", "resourceVersion": "7"}, `+k.JSON)
}
func (k kind) typed(kind, fields string) string {
	return `{"apiVersion": "` + k.GroupVersion().String() + `", "kind": "` + kind + `", ` + fields + `}`
}

func (k kind) empty(t *testing.T) runtime.Object {
	t.Helper()
	object, err := clientset.Scheme.New(k.GroupVersionKind)
	if err != nil {
		t.Fatal(err)
	}
	return object
}
