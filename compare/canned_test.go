package compare

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
)

// listed is how many Foos a list holds.
const listed = 500

// replies are what the server of a benchmark says, encoded once.
type replies struct {
	mediaType, streamType string
	foo, list, events     []byte
	// sent is the body of a write.
	sent []byte
}

// newReplies encodes a Foo, a list of them, and a piece of a watch stream.
func newReplies(tb testing.TB, mediaType, streamType string) *replies {
	tb.Helper()
	info, ok := runtime.SerializerInfoForMediaType(clientset.Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		tb.Fatalf("no serializer for %s", mediaType)
	}
	encode := func(encoder runtime.Encoder, object runtime.Object) []byte {
		data, err := runtime.Encode(encoder, object)
		if err != nil {
			tb.Fatalf("encode %T as %s: %v", object, mediaType, err)
		}
		return data
	}
	typed := clientset.Codecs.EncoderForVersion(info.Serializer, v1alpha1.SchemeGroupVersion)
	r := &replies{mediaType: mediaType, streamType: streamType,
		foo: encode(typed, storedFoo(0)), list: encode(typed, storedList()), sent: encode(typed, sentFoo())}
	event := encode(info.StreamSerializer.Serializer, &metav1.WatchEvent{Type: string(watch.Modified), Object: runtime.RawExtension{Raw: r.foo}})
	// Several events in one write, so that the server is not what is waited for.
	r.events = bytes.Repeat(event, 16)
	return r
}

func storedList() *v1alpha1.FooList {
	list := &v1alpha1.FooList{ListMeta: metav1.ListMeta{ResourceVersion: "90210"}}
	for i := range listed {
		list.Items = append(list.Items, *storedFoo(i))
	}
	return list
}

// storedFoo is a Foo as the API server returns it: made with kubectl apply, and
// its status written by a controller.
func storedFoo(i int) *v1alpha1.Foo {
	created := metav1.NewTime(time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC))
	name := fmt.Sprintf("example-foo-%05d", i)
	spec := fmt.Sprintf(`{"deploymentName":%q,"replicas":3}`, name)
	foo := &v1alpha1.Foo{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(fmt.Sprintf("5f1c2f0a-9d2e-4b73-8c55-%012d", i)),
			ResourceVersion: fmt.Sprint(10_000 + i), Generation: 1, CreationTimestamp: created,
			Labels: map[string]string{"app.kubernetes.io/name": "example", "app.kubernetes.io/part-of": "shop"},
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": fmt.Sprintf(
				`{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":{"name":%q,"namespace":"default"},"spec":%s}`, name, spec)},
		},
		Spec: v1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(3))},
		Status: v1alpha1.FooStatus{Replicas: 3, AvailableReplicas: 3, ObservedGeneration: 1, Selector: "app=example,controller=" + name,
			Conditions: []metav1.Condition{{Type: v1alpha1.FooReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAvailable,
				Message: "3 of 3 replicas are available", ObservedGeneration: 1, LastTransitionTime: created}}},
	}
	for _, entry := range [][3]string{
		{"kubectl-client-side-apply", "", `{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{}}},"f:spec":{".":{},"f:deploymentName":{},"f:replicas":{}}}`},
		{"controller", "status", `{"f:status":{".":{},"f:availableReplicas":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:observedGeneration":{},"f:replicas":{},"f:selector":{}}}`},
	} {
		foo.ManagedFields = append(foo.ManagedFields, metav1.ManagedFieldsEntry{Manager: entry[0], Subresource: entry[1], Operation: metav1.ManagedFieldsOperationUpdate,
			APIVersion: v1alpha1.SchemeGroupVersion.String(), Time: &created, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(entry[2])})
	}
	return foo
}

// sentFoo is a Foo as a controller sends it: out of a store that keeps no
// managedFields.
func sentFoo() *v1alpha1.Foo {
	foo := storedFoo(0)
	foo.ManagedFields = nil
	return foo
}

// serve answers every request with r, over HTTP/1.1 and without compression, until
// tb ends. It refuses a client that does not accept what r is encoded in.
func (r *replies) serve(tb testing.TB) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if accept := request.Header.Get("Accept"); !strings.Contains(accept, r.mediaType) {
			http.Error(w, "the client accepts "+accept, http.StatusNotAcceptable)
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			tb.Errorf("read the body of %s: %v", request.Method, err)
		}
		switch {
		case request.URL.Query().Has("watch"):
			w.Header().Set("Content-Type", r.streamType)
			for {
				if _, err := w.Write(r.events); err != nil {
					return // the client has enough
				}
			}
		case request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/foos"):
			r.write(w, http.StatusOK, r.list)
		case request.Method == http.MethodPost:
			r.write(w, http.StatusCreated, r.foo)
		default:
			r.write(w, http.StatusOK, r.foo)
		}
	}))
	tb.Cleanup(server.Close)
	return server.URL
}

func (r *replies) write(w http.ResponseWriter, code int, body []byte) {
	w.Header().Set("Content-Type", r.mediaType)
	w.WriteHeader(code)
	_, _ = w.Write(body)
}
