package metrics_test

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/byhand/kit/metrics"
	"example.com/byhand/kit/testkit"
)

// requestEverything makes a client send one request that is not found, one that
// succeeds at its second try, one watch and one that nobody answers.
func requestEverything(t *testing.T) {
	t.Helper()
	api := testkit.NewAPIServer()
	api.AddNamespace("secret-namespace")
	api.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		first := r.Method == http.MethodPost && len(api.Log()) == 2
		switch {
		case first:
			w.Header().Set("Retry-After", "0")
			testkit.WriteError(w, apierrors.NewTooManyRequests("", 0))
		case r.Method == http.MethodDelete:
			panic(http.ErrAbortHandler)
		}
		return first
	})
	config := api.Config()
	config.QPS, config.Burst = 1000, 1000 // Waits are counted where there is a limit.
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("secret-namespace")
	if _, err := pods.Get(t.Context(), "secret-name", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Pod that does not exist: %v", err)
	}
	if _, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "secret-name"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if stream, err := pods.Watch(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	} else {
		stream.Stop()
	}
	if err := pods.Delete(t.Context(), "secret-name", metav1.DeleteOptions{}); err == nil {
		t.Error("a server that is gone has answered")
	}
}

// Each try of a request is counted by its answer. A watch counts as a request and
// has no duration. The names of objects and namespaces and the paths of URLs stay out of the
// labels.
func TestRequests(t *testing.T) {
	m := metrics.New()
	requestEverything(t)
	expect(t, m, map[string]float64{
		`rest_client_requests_total{code="404",host="api.test",method="GET"}`:            1,
		`rest_client_requests_total{code="200",host="api.test",method="GET"}`:            1,
		`rest_client_requests_total{code="429",host="api.test",method="POST"}`:           1,
		`rest_client_requests_total{code="201",host="api.test",method="POST"}`:           1,
		`rest_client_requests_total{code="<error>",host="api.test",method="DELETE"}`:     1,
		`rest_client_request_retries_total{code="201",host="api.test",verb="POST"}`:      1,
		`rest_client_request_duration_seconds_count{host="api.test",verb="GET"}`:         1,
		`rest_client_request_duration_seconds_count{host="api.test",verb="POST"}`:        1,
		`rest_client_rate_limiter_duration_seconds_count{host="api.test",verb="DELETE"}`: 1,
	}) // More objects do not make more series.
	for _, secret := range []string{"secret", "/api", "pods"} {
		if scraped := scrape(t, m); strings.Contains(scraped, secret) {
			t.Errorf("the scrape contains %q:\n%s", secret, scraped)
		}
	}
}
