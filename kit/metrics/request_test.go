package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/byhand/kit/metrics"
)

// requestEverything makes a client send one request that is not found, one that
// succeeds at its second try, one watch and one that nobody answers. It returns
// the host.
func requestEverything(t *testing.T) string {
	t.Helper()
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Query().Get("watch") != "":
			// Ends at once.
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusNotFound)
		case tries == 0:
			tries++
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.WriteHeader(http.StatusCreated)
			_, _ = fmt.Fprint(w, `{"apiVersion":"v1","kind":"Pod"}`)
		}
	}))
	// Waits are counted where there is a limit.
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: 1000, Burst: 1000})
	pods := client.CoreV1().Pods("secret-namespace")
	if _, err := pods.Get(t.Context(), "secret-name", metav1.GetOptions{}); err == nil {
		t.Error("a Pod that does not exist was found")
	}
	if _, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "secret-name"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if stream, err := pods.Watch(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	} else {
		stream.Stop()
	}
	server.CloseClientConnections()
	server.Close()
	if err := pods.Delete(t.Context(), "secret-name", metav1.DeleteOptions{}); err == nil {
		t.Error("a server that is gone has answered")
	}
	return strings.TrimPrefix(server.URL, "http://")
}

// Each try of a request is counted by its answer. A watch counts as a request and
// has no duration. The names of objects and namespaces and the paths of URLs stay out of the
// labels.
func TestRequests(t *testing.T) {
	m := metrics.New()
	host := requestEverything(t)
	expect(t, m, map[string]float64{
		`rest_client_requests_total{code="404",host="` + host + `",method="GET"}`:            1,
		`rest_client_requests_total{code="200",host="` + host + `",method="GET"}`:            1,
		`rest_client_requests_total{code="429",host="` + host + `",method="POST"}`:           1,
		`rest_client_requests_total{code="201",host="` + host + `",method="POST"}`:           1,
		`rest_client_requests_total{code="<error>",host="` + host + `",method="DELETE"}`:     1,
		`rest_client_request_retries_total{code="201",host="` + host + `",verb="POST"}`:      1,
		`rest_client_request_duration_seconds_count{host="` + host + `",verb="GET"}`:         1,
		`rest_client_request_duration_seconds_count{host="` + host + `",verb="POST"}`:        1,
		`rest_client_rate_limiter_duration_seconds_count{host="` + host + `",verb="DELETE"}`: 1,
	}) // More objects do not make more series.
	for _, secret := range []string{"secret", "/api", "pods"} {
		if scraped := scrape(t, m); strings.Contains(scraped, secret) {
			t.Errorf("the scrape contains %q:\n%s", secret, scraped)
		}
	}
}
