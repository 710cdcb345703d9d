package clientset_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/tests/samples"
)

func TestFailedCallReturnsEmptyObject(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			reply(w, http.StatusNotFound, `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}`)
		}))
		got, err := samples.Call(t.Context(), k.Client(client, "shop"), "Get", "one", metav1.GetOptions{})
		if diff := cmp.Diff(any(k.empty(t)), got); diff != "" || err == nil {
			t.Errorf("object returned with error %v (-want +got):\n%s", err, diff)
		}
	})
}

// refusing returns a client of a kind. If the client sends a request, the test fails.
func refusing(t *testing.T, k kind) any {
	return k.Client(newClient(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("sent %s %s", r.Method, r.URL.Path)
	})), "shop")
}

// Without a name, the URL would be the collection's, and a DELETE would delete everything.
func TestEmptyNameIsRefused(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		client := refusing(t, k)
		for method, arguments := range map[string][]any{
			"Get":    {"", metav1.GetOptions{}},
			"Update": {k.empty(t), metav1.UpdateOptions{}},
			"Patch":  {"", types.MergePatchType, []byte("{}"), metav1.PatchOptions{}},
			"Delete": {"", metav1.DeleteOptions{}},
		} {
			if _, err := samples.Call(t.Context(), client, method, arguments...); err == nil {
				t.Errorf("%s: no error", method)
			}
		}
	})
}

// NewForConfig rejects a config that would block every request.
func TestQPSWithoutBurst(t *testing.T) {
	for _, test := range []struct {
		name   string
		config rest.Config
		want   string
	}{
		{"QPS alone", rest.Config{QPS: 5}, "Burst"},
		{"QPS and a negative Burst", rest.Config{QPS: 5, Burst: -1}, "Burst"},
		{"QPS and Burst", rest.Config{QPS: 5, Burst: 1}, ""},
		{"no limit", rest.Config{QPS: -1}, ""},
		{"client-go's defaults", rest.Config{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Host = "https://example.com"
			_, err := clientset.NewForConfigAndClient(&test.config, http.DefaultClient)
			if test.want == "" && err != nil {
				t.Errorf("error %v, want none", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want one that names %s", err, test.want)
			}
		})
	}
}

func TestNilObjects(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		client := refusing(t, k)
		withoutName := reflect.New(reflect.TypeOf(k.Applied).Elem()).Interface()
		for _, test := range []struct {
			method    string
			arguments []any
			want      string
		}{
			{"Create", []any{nil, metav1.CreateOptions{}}, "Create needs a " + k.Kind.Kind},
			{"Update", []any{nil, metav1.UpdateOptions{}}, "Update needs a " + k.Kind.Kind},
			{"UpdateStatus", []any{nil, metav1.UpdateOptions{}}, "UpdateStatus needs a " + k.Kind.Kind},
			{"Apply", []any{nil, metav1.ApplyOptions{}}, "Apply needs a " + k.Kind.Kind + " with a name"},
			{"Apply", []any{withoutName, metav1.ApplyOptions{}}, "Apply needs a " + k.Kind.Kind + " with a name"},
			{"ApplyStatus", []any{nil, metav1.ApplyOptions{}}, "Apply needs a " + k.Kind.Kind + " with a name"},
			{"ApplyStatus", []any{withoutName, metav1.ApplyOptions{}}, "Apply needs a " + k.Kind.Kind + " with a name"},
		} {
			if !samples.Has(client, test.method) {
				continue
			}
			if _, err := samples.Call(t.Context(), client, test.method, test.arguments...); err == nil || err.Error() != test.want {
				t.Errorf("%s: error %v, want %q", test.method, err, test.want)
			}
		}
	})
}
