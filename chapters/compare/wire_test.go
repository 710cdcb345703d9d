package compare

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	official "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	"sigs.k8s.io/randfill"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/kit/testkit"
)

var seed = flag.Int64("seed", time.Now().UnixNano(), "seed of the random calls")

// sent has the parts of a request that an API server reads.
type sent struct {
	Method, Path string
	Query        map[string][]string
	Header       http.Header
	Body         any
}

// recorder answers every request with an empty Foo and records it.
type recorder struct {
	server *httptest.Server
	got    []sent
}

func newRecorder(t *testing.T) *recorder {
	r := &recorder{}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		s := sent{Method: request.Method, Path: request.URL.EscapedPath(), Query: request.URL.Query(), Header: request.Header}
		if len(body) > 0 {
			if err := json.Unmarshal(body, &s.Body); err != nil {
				s.Body = string(body)
			}
			testkit.DropNulls(s.Body)
			// The length follows from the body.
			s.Header.Del("Content-Length")
		}
		r.got = append(r.got, s)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":%q,"kind":"Foo"}`, v1alpha1.SchemeGroupVersion)
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *recorder) take() []sent {
	got := r.got
	r.got = nil
	return got
}

// newFiller fills values at random, with texts and numbers that are often special cases.
func newFiller() *randfill.Filler {
	texts := []string{"", "one", "with.dots", "with space", "with/slash", "..", "ümläut", "100%", "q?a=b", "a in (b,c)", "metadata.name=x&y", "0"}
	patches := []types.PatchType{types.MergePatchType, types.JSONPatchType, types.StrategicMergePatchType, types.ApplyPatchType}
	return randfill.NewWithSeed(*seed).NumElements(0, 2).Funcs(
		func(text *string, c randfill.Continue) { *text = texts[c.Intn(len(texts))] },
		func(kind *types.PatchType, c randfill.Continue) { *kind = patches[c.Intn(len(patches))] },
		// Some numbers are timeouts in seconds.
		func(number *int64, c randfill.Continue) { *number = 30 * c.Int63n(2) },
		// FieldsV1 must be JSON, so it stays empty.
		func(*metav1.FieldsV1, randfill.Continue) {},
	)
}

// draw returns arguments for a method of both clients. Types that differ have the same JSON in both.
func draw(t *testing.T, filler *randfill.Filler, theirs, ours reflect.Type) (their, our []reflect.Value) {
	t.Helper()
	their, our = []reflect.Value{reflect.ValueOf(t.Context())}, []reflect.Value{reflect.ValueOf(t.Context())}
	for i := 1; i < theirs.NumIn(); i++ {
		one := reflect.New(theirs.In(i))
		filler.Fill(one.Interface())
		for one.Elem().Kind() == reflect.Pointer && one.Elem().IsNil() {
			filler.Fill(one.Interface())
		}
		same := one
		if theirs.In(i) != ours.In(i) {
			same = reflect.New(ours.In(i))
			text, err := json.Marshal(one.Interface())
			if err == nil {
				err = json.Unmarshal(text, same.Interface())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		their, our = append(their, one.Elem()), append(our, same.Elem())
	}
	return their, our
}

// call calls a method and returns its error. A watch is stopped.
func call(method reflect.Value, arguments []reflect.Value) any {
	do := method.Call
	if method.Type().IsVariadic() {
		do = method.CallSlice
	}
	results := do(arguments)
	if stream, ok := results[0].Interface().(watch.Interface); ok {
		stream.Stop()
	}
	return results[len(results)-1].Interface()
}

// TestWireEqualsGenerated: the same call through the official generated client and through ours sends
// the same request, or none, for any arguments.
func TestWireEqualsGenerated(t *testing.T) {
	t.Logf("seed %d; again with: go test -run TestWireEqualsGenerated . -seed %[1]d", *seed)
	theirServer, ourServer, filler := newRecorder(t), newRecorder(t), newFiller()
	theirClient := official.NewForConfigOrDie(&rest.Config{Host: theirServer.server.URL, QPS: -1})
	ourClient := clientset.NewForConfigOrDie(&rest.Config{Host: ourServer.server.URL, QPS: -1})
	var namespace string
	for verb := range reflect.TypeOf(ourClient.SamplecontrollerV1alpha1().Foos("")).Methods() {
		requests := 0
		for range 200 {
			filler.Fill(&namespace)
			theirs := reflect.ValueOf(theirClient.SamplecontrollerV1alpha1().Foos(namespace)).MethodByName(verb.Name)
			ours := reflect.ValueOf(ourClient.SamplecontrollerV1alpha1().Foos(namespace)).MethodByName(verb.Name)
			their, our := draw(t, filler, theirs.Type(), ours.Type())
			theirErr, ourErr := call(theirs, their), call(ours, our)
			sent := ourServer.take()
			if diff := cmp.Diff(theirServer.take(), sent); diff != "" {
				t.Fatalf("%s: requests differ (-generated +ours):\n%s", verb.Name, diff)
			}
			if (theirErr == nil) != (ourErr == nil) {
				t.Fatalf("%s: the generated client returns %v, ours %v", verb.Name, theirErr, ourErr)
			}
			requests += len(sent)
		}
		if t.Logf("%s: %d requests", verb.Name, requests); requests < 40 {
			t.Errorf("%s: most random calls sent no request", verb.Name)
		}
	}
}
