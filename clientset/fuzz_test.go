package clientset_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/clientset"
)

// FuzzDecode hands arbitrary bodies to the decoder of the REST client, as an object and
// as a list of every kind, and proves that none makes it panic and that what it accepts
// is held in full: encoded and decoded again it is the same object. Plain go test runs
// the seeds;
//
//	go test -run '^$' -fuzz '^FuzzDecode$' -fuzztime 30s ./clientset
//
// looks for more.
func FuzzDecode(f *testing.F) {
	var decoded []schema.GroupVersionKind
	f.Add([]byte(`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404}`))
	for _, k := range kinds {
		f.Add([]byte(k.objectWire()))
		f.Add([]byte(k.listWire()))
		for _, suffix := range []string{"", "List"} {
			gvk := k.groupVersionKind()
			gvk.Kind += suffix
			decoded = append(decoded, gvk)
			addBroken(f, gvk)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, gvk := range decoded {
			decodeAndBack(t, gvk, body)
		}
	})
}

// addBroken adds bodies with this header that no server should send. They are the same
// for a list as for an object: as the body, or as the second item.
func addBroken(f *testing.F, gvk schema.GroupVersionKind) {
	header := `{"apiVersion": "` + gvk.GroupVersion().String() + `", "kind": "` + gvk.Kind + `", `
	for _, fields := range []string{
		`"metadata": null, "spec": null, "status": null}`,
		`"metadata": {"labels": null, "annotations": {}, "ownerReferences": [], "finalizers": null, "creationTimestamp": null}}`,
		`"metadata": {"name": 5}, "spec": {"replicas": "two"}}`,
		`"metadata": [], "spec": "spec", "status": 7}`,
		`"spec": {"replicas": 2147483648}, "status": {"observedGeneration": 9223372036854775807}}`,
		`"spec": {"replicas": 1e400, "deploymentName": "web"}}`,
		`"spec": {"replicas": 1.0}, "metadata": {"generation": -0}}`,
		`"spec": {"deploymentName": "one", "deploymentName": "two", "replicas": 1, "replicas": null}}`,
		`"spec": {"DeploymentName": "case", "pebbles": {"are": ["not", "known"]}}, "more": true}`,
		`"metadata": {"name": "` + "\xff\xfe" + `", "annotations": {"\ud800": "\u0000"}}}`,
		`"metadata": {"annotations": {"deep": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}}`,
		`"metadata": {"managedFields": [{"manager": "me", "fieldsV1": {"f:spec": { "f:replicas": {} , "v:\"<&>\"": {}}}}, {"fieldsV1": null}, {}]}}`,
		`"metadata": {"creationTimestamp": "2026-01-02T03:04:05.678+02:00", "deletionTimestamp": "0001-01-01T00:00:00Z"}}`,
		`"metadata": {"creationTimestamp": "0000-01-01T00:00:00+01:00"}}`,
		`"status": {"conditions": [null, {}, {"type": "Ready", "lastTransitionTime": null, "observedGeneration": 3}]}}`,
	} {
		f.Add([]byte(header + fields))
		f.Add([]byte(`{"items": [null, ` + header + fields + `]}`))
	}
}

// decodeAndBack decodes body as this kind, and if that succeeds, encodes it and decodes
// it again.
func decodeAndBack(t *testing.T, gvk schema.GroupVersionKind, body []byte) {
	codecs := runtime.NewClientNegotiator(clientset.Codecs.WithoutConversion(), gvk.GroupVersion())
	decoder, err := codecs.Decoder(runtime.ContentTypeJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := codecs.Encoder(runtime.ContentTypeJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	empty := func() runtime.Object {
		object, err := clientset.Scheme.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		return object
	}
	object := empty()
	if got, _, err := decoder.Decode(body, nil, object); err != nil || got != object {
		return // It is refused, or of another kind.
	}
	if c := object.DeepCopyObject(); !reflect.DeepEqual(object, c) {
		t.Errorf("object %#v\ncopy   %#v", object, c)
	}
	var wire bytes.Buffer
	if err := encoder.Encode(object, &wire); err != nil {
		t.Fatalf("encode %#v: %v", object, err)
	}
	again := empty()
	got, _, err := decoder.Decode(wire.Bytes(), nil, again)
	if lostTime := new(time.ParseError); errors.As(err, &lostTime) {
		return // Its UTC is in no year that RFC 3339 can write.
	}
	if err != nil {
		t.Fatalf("decode again: %v\n%s", err, wire.Bytes())
	}
	if got != again || !asTheWireHasIt.DeepEqual(object, again) {
		t.Errorf("body\n%s\nfirst\n%#v\nencoded\n%s\nagain\n%#v", body, object, wire.Bytes(), got)
	}
}

// asTheWireHasIt is equality.Semantic, except for what metav1's types accept and do
// not write again: fractions of a second, a pointer to no time, and the way that
// fieldsV1 is written.
var asTheWireHasIt = func() conversion.Equalities {
	equal := equality.Semantic.Copy()
	seconds := func(t *metav1.Time) metav1.Time {
		if t.IsZero() {
			return metav1.Time{}
		}
		return t.Rfc3339Copy()
	}
	fields := func(f metav1.FieldsV1) (value any) {
		decoder := json.NewDecoder(f.GetRawReader())
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return f.GetRawString()
		}
		return value
	}
	if err := equal.AddFuncs(
		func(a, b metav1.Time) bool { a, b = seconds(&a), seconds(&b); return a.Equal(&b) },
		func(a, b *metav1.Time) bool { x, y := seconds(a), seconds(b); return x.Equal(&y) },
		func(a, b metav1.FieldsV1) bool { return reflect.DeepEqual(fields(a), fields(b)) },
	); err != nil {
		panic(err)
	}
	return equal
}()
