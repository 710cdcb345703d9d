// Package deepcopy tests hand-written DeepCopy methods. Generated ones are complete because a generator sees
// every field. These tests see every field, too: they take the kinds from a scheme and the fields from
// reflection, so later fields are tested as well.
//
// They test each struct that is part of a kind of the scheme and is declared in the kind's package, innermost
// first. The first failure ends the test, because it makes the enclosing structs wrong, too. Types that
// Kubernetes registers, such as the options of a request, are skipped.
package deepcopy

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// EqualsOriginal proves that a copy loses nothing, leaves the original unchanged, and keeps nothing of the
// earlier content of DeepCopyInto's target.
func EqualsOriginal(t *testing.T, scheme *runtime.Scheme) {
	eachCopy(t, scheme, func(typ reflect.Type, method string) {
		for seed := range seeds {
			original, twin := filled(t, typ, seed), filled(t, typ, seed)
			copied := copyOf(t, original, method)
			if !equal(original, copied) {
				t.Fatalf("deepcopy.go: what %s.%s copies differs (-original +copy):\n%s", typ.Name(), method, diff(original, copied))
			}
			if !equal(twin, original) {
				t.Fatalf("deepcopy.go: %s.%s changes the original (-before +after):\n%s", typ.Name(), method, diff(twin, original))
			}
		}
	})
}

// SharesNoMemory proves that no pointer, slice or map of a copy leads into the original, so that no write to
// the copy reaches it.
func SharesNoMemory(t *testing.T, scheme *runtime.Scheme) {
	eachCopy(t, scheme, func(typ reflect.Type, method string) {
		for seed := range seeds {
			original := filled(t, typ, seed)
			owned := map[uintptr]bool{}
			eachReference(typ.Name(), original.Elem(), func(path string, v reflect.Value, _ func(reflect.Value)) { owned[v.Pointer()] = true })
			eachReference(typ.Name(), copyOf(t, original, method).Elem(), func(path string, v reflect.Value, _ func(reflect.Value)) {
				empty := v.IsNil() || v.Kind() == reflect.Slice && v.Len() == 0 // without memory
				if owned[v.Pointer()] && !empty {
					t.Fatalf("deepcopy.go: %s is shared: %s must copy it", path, method)
				}
			})
		}
	})
}

// KeepsNilAndEmpty proves, for each pointer, slice and map in turn,
// that nil stays nil and empty stays empty: null and [] differ on the wire.
func KeepsNilAndEmpty(t *testing.T, scheme *runtime.Scheme) {
	eachCopy(t, scheme, func(typ reflect.Type, method string) {
		original := filled(t, typ, 0)
		eachReference(typ.Name(), original.Elem(), func(path string, v reflect.Value, set func(reflect.Value)) {
			full := reflect.ValueOf(v.Interface())
			for name, value := range map[string]reflect.Value{"nil": reflect.Zero(v.Type()), "empty": emptyOf(v.Type())} {
				set(value)
				if copied := copyOf(t, original, method); !equal(original, copied) {
					t.Fatalf("deepcopy.go: %s does not stay "+name+": %s must keep it", path, method)
				}
			}
			set(full)
		})
	})
}

// OfNil proves that the copy of a nil pointer is nil, and an untyped nil if an interface is returned: a typed
// one would be != nil.
func OfNil(t *testing.T, scheme *runtime.Scheme) {
	eachCopy(t, scheme, func(typ reflect.Type, method string) {
		if method == "DeepCopyInto" {
			return // it has no result
		}
		result := reflect.Zero(reflect.PointerTo(typ)).MethodByName(method).Call(nil)[0]
		if !result.IsNil() {
			t.Errorf("deepcopy.go: %s.%s of nil is %#v of type %s, want nil", typ.Name(), method, result, result.Elem().Type())
		}
	})
}

// RoundTrip runs apimachinery's own test on all registered kinds: encoding as JSON and decoding loses nothing.
// It cannot check that a field's JSON name is the server's; the tests in package clientset do.
func RoundTrip(t *testing.T, scheme *runtime.Scheme) {
	codecs := serializer.NewCodecFactory(scheme)
	// Nothing is nil: a pointer to a nil list is null in JSON, and so is a nil pointer.
	random := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs).Funcs(Fillers...).NilChance(0).MaxDepth(maxDepth)
	roundtrip.RoundTripExternalTypesWithoutProtobuf(t, scheme, codecs, random, nil)
}

// seeds is the number of random contents that a test tries.
const seeds int64 = 20

// eachCopy calls test for each method that copies one of our types, until it fails.
func eachCopy(t *testing.T, scheme *runtime.Scheme, test func(typ reflect.Type, method string)) {
	t.Helper()
	ours := oursIn(scheme)
	if len(ours) == 0 {
		t.Fatal("the scheme knows no kind of ours")
	}
	for _, typ := range ours {
		for _, method := range []string{"DeepCopyInto", "DeepCopy", "DeepCopyObject"} {
			its, has := reflect.PointerTo(typ).MethodByName(method)
			if has && its.Type.NumOut() > 0 && its.Type.Out(0).Kind() == reflect.Pointer {
				has = its.Type.Out(0).Elem() == typ // and not an embedded ListMeta's
			}
			if has {
				test(typ, method)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// oursIn returns the structs of which the kinds of a scheme consist, without Kubernetes' kinds and structs of
// other packages. A struct follows the structs that it contains.
func oursIn(scheme *runtime.Scheme) (ours []reflect.Type) {
	seen := map[reflect.Type]bool{}
	var add func(path string, typ reflect.Type)
	add = func(path string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			add(path, typ.Elem())
		case reflect.Struct:
			if typ.PkgPath() != path || seen[typ] {
				return
			}
			seen[typ] = true
			for i := range typ.NumField() {
				add(path, typ.Field(i).Type)
			}
			ours = append(ours, typ)
		}
	}
	for _, typ := range scheme.AllKnownTypes() {
		if !strings.HasPrefix(typ.PkgPath(), "k8s.io/") {
			add(typ.PkgPath(), typ)
		}
	}
	return ours
}

// maxDepth ends a type that contains itself. Each of our types is also tested by itself, so nothing is missed.
const maxDepth = 16

// Fillers are functions for types that cannot hold any value, such as func(*MyType, randfill.Continue). Append
// one for each type that the tests cannot fill. They must leave no field empty.
var Fillers = []any{
	func(raw *runtime.RawExtension, c randfill.Continue) {
		raw.Raw = fmt.Appendf(nil, `{"n":%d}`, c.Int31())
	},
	func(value *intstr.IntOrString, c randfill.Continue) { *value = intstr.FromInt32(c.Int31()) },
}

// filled returns a pointer to a new typ with a value in every field, down to the last pointer. The same seed
// gives the same content in other memory.
func filled(t *testing.T, typ reflect.Type, seed int64) reflect.Value {
	t.Helper()
	defer func() {
		if reason := recover(); reason != nil {
			t.Fatalf("%s cannot be filled: %v: append a func(*THETYPE, randfill.Continue) to deepcopy.Fillers", typ, reason)
		}
	}()
	// No other functions for particular types: metafuzzer's leave some fields empty.
	random := randfill.NewWithSeed(seed).Funcs(Fillers...).NilChance(0).NumElements(1, 2).MaxDepth(maxDepth)
	object := reflect.New(typ)
	random.Fill(object.Interface())
	eachReference(typ.Name(), object.Elem(), func(path string, v reflect.Value, set func(reflect.Value)) {
		if strings.Count(path, ".") > 4 {
			return // maxDepth may have ended it.
		}
		// The filler skips nil pointers to types that fill themselves, such as *metav1.Time.
		if v.Kind() == reflect.Pointer && v.IsNil() {
			set(reflect.New(v.Type().Elem()))
			random.Fill(v.Interface())
		}
		if v.Kind() != reflect.Pointer && v.Len() == 0 {
			t.Fatalf("%s was not filled: append a func(*THETYPE, randfill.Continue) for its type to deepcopy.Fillers", path)
		}
	})
	return object
}

// copyOf calls one of the copy methods of *original.
func copyOf(t *testing.T, original reflect.Value, method string) reflect.Value {
	t.Helper()
	if method == "DeepCopyInto" {
		// The target may be in use: none of its content may survive.
		out := filled(t, original.Type().Elem(), -1)
		original.MethodByName(method).Call([]reflect.Value{out})
		return out
	}
	result := original.MethodByName(method).Call(nil)[0]
	if result.Kind() == reflect.Interface {
		result = result.Elem()
	}
	return result
}

// eachReference calls visit for every pointer, slice and map that can be reached from v, outermost first, with
// its path. set replaces it. Unexported fields are skipped: the one that matters, the time zone in a
// metav1.Time, is shared on purpose. Interfaces are skipped, too: only a RawExtension may have one.
func eachReference(path string, v reflect.Value, visit func(path string, v reflect.Value, set func(reflect.Value))) {
	eachReferenceIn(path, v, func() {}, visit)
}

// eachReferenceIn calls written after each change of v: a value in a map is a copy.
func eachReferenceIn(path string, v reflect.Value, written func(), visit func(path string, v reflect.Value, set func(reflect.Value))) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		visit(path, v, func(value reflect.Value) {
			v.Set(value)
			written()
		})
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachReferenceIn(path, v.Elem(), written, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachReferenceIn(path+"[]", v.Index(i), written, visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			eachReferenceIn(path+"[]", value, func() { v.SetMapIndex(key, value) }, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				eachReferenceIn(path+"."+field.Name, v.Field(i), written, visit)
			}
		}
	case reflect.Array, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		panic(path + ": a copy of " + v.Kind().String() + " cannot be tested: use a slice or a struct")
	}
}

// emptyOf returns an empty slice or map, or a pointer to a zero value.
func emptyOf(typ reflect.Type) reflect.Value {
	switch typ.Kind() {
	case reflect.Slice:
		return reflect.MakeSlice(typ, 0, 0)
	case reflect.Map:
		return reflect.MakeMap(typ)
	default:
		return reflect.New(typ.Elem())
	}
}

// equal compares the targets of two pointers. Unlike cmp it never calls an Equal method: some take nil for
// empty.
func equal(a, b reflect.Value) bool { return reflect.DeepEqual(a.Interface(), b.Interface()) }

func diff(a, b reflect.Value) string { return cmp.Diff(a.Interface(), b.Interface()) }
