package stage

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

// A program sees only the namespace of its stage. A script's program does so for each namespaced kind.
func TestConfined(t *testing.T) {
	ofScript := &Told{Namespaced: map[schema.GroupResource]bool{}}
	ofScript.meet(discovery.NewDiscoveryClientForConfigOrDie(tests.NewAPIServer().Config()))
	for _, told := range []*Told{nil, ofScript} {
		var got, body string
		s := &Stage{World: &World{Judge: &Judge{Told: told}}, Namespace: "here", Proxy: &testkit.Faults{}}
		s.confine(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			sent := new(strings.Builder)
			_ = r.Write(sent)
			_, body, _ = strings.Cut(sent.String(), "\r\n\r\n")
			got = r.Method + " " + r.URL.String()
		}))
		for _, test := range []struct{ request, want string }{
			{"GET /apis/apps/v1/deployments?watch=true", "GET /apis/apps/v1/namespaces/here/deployments?watch=true"},
			{"GET /apis/samplecontroller.k8s.io/v1alpha1/foos", "GET /apis/samplecontroller.k8s.io/v1alpha1/namespaces/here/foos"},
			{"GET /apis/apps/v1/namespaces/there/deployments", "GET /apis/apps/v1/namespaces/there/deployments"},
			{"PUT /apis/samplecontroller.k8s.io/v1alpha1/namespaces/here/foos/foos/status", "PUT /apis/samplecontroller.k8s.io/v1alpha1/namespaces/here/foos/foos/status"},
			{"GET /api/v1/namespaces", "GET /api/v1/namespaces"},
			{"GET /apis/apps/v1", "GET /apis/apps/v1"},
			{"GET /apis/coordination.k8s.io/v1/namespaces/default/leases/one", "GET /apis/coordination.k8s.io/v1/namespaces/here-leases/leases/one"},
			{"PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/one", "PUT /apis/coordination.k8s.io/v1/namespaces/here-leases/leases/one"},
		} {
			method, url, _ := strings.Cut(test.request, " ")
			r := httptest.NewRequest(method, url, strings.NewReader(`{"metadata":{"namespace":"default"}}`))
			r.Header.Set("Content-Type", "application/json")
			s.Proxy.ServeHTTP(httptest.NewRecorder(), r)
			if got != test.want {
				t.Errorf("%s becomes %s, want %s", test.request, got, test.want)
			}
			if moved := strings.Contains(body, "here-leases"); moved != strings.HasPrefix(test.want, "PUT /apis/coord") {
				t.Errorf("%s sends %s", test.request, body)
			}
		}
	}
}
