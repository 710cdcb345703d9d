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

// Each attempt of a request is counted by its response: here one is not found, one succeeds at
// its second attempt, one is a watch, which has no duration, and one gets no response. Labels
// contain no names of objects or namespaces, and no paths.
func TestRequests(t *testing.T) {
	m, api := metrics.New(), testkit.NewAPIServer()
	api.AddNamespace("secret-namespace")
	posts := 0
	api.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		switch r.Method {
		case http.MethodPost:
			if posts++; posts == 1 {
				w.Header().Set("Retry-After", "0")
				testkit.WriteError(w, apierrors.NewTooManyRequests("", 0))
				return true
			}
		case http.MethodDelete:
			panic(http.ErrAbortHandler)
		}
		return false
	})
	config := api.Config()
	config.QPS, config.Burst = 1000, 1000 // Only a client with a limit measures its waits.
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("secret-namespace")
	_, _ = pods.Get(t.Context(), "secret-name", metav1.GetOptions{})
	_, _ = pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "secret-name"}}, metav1.CreateOptions{})
	_, _ = pods.Watch(t.Context(), metav1.ListOptions{})
	_ = pods.Delete(t.Context(), "secret-name", metav1.DeleteOptions{})
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
	})
	for _, secret := range []string{"secret", "/api", "pods"} {
		if scraped := scrape(t, m); strings.Contains(scraped, secret) {
			t.Errorf("the scrape contains %q:\n%s", secret, scraped)
		}
	}
}
