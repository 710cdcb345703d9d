package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

// server is an in-memory API server with one Foo, which listens on a port. Its discovery is the
// fixture, and a test may add responses by path.
type server struct {
	*httptest.Server
	api *testkit.APIServer

	mu      sync.Mutex
	answers map[string]string
}

const (
	foosPath = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos"
	fooPath  = foosPath + "/example-foo"
)

func newServer(t *testing.T) *server {
	core, groups := fixture()
	s := &server{api: tests.NewAPIServer(), answers: map[string]string{"/api": core, "/apis": groups}}
	s.api.Add(fooPath, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"deploymentName": "example-foo"}}})
	s.api.Intercept(s.hasAnswer)
	s.Server = httptest.NewServer(s.api)
	t.Cleanup(s.Close)
	return s
}

func (s *server) kubeconfig(t *testing.T) string {
	t.Helper()
	file, err := testkit.WriteKubeconfig(t.TempDir(), clientcmdapi.Cluster{Server: s.URL}, clientcmdapi.AuthInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// answer sets the response for a path, or for its watch if the path ends with ?watch.
func (s *server) answer(path, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = body
}

func (s *server) hasAnswer(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := r.URL.Path
	if r.URL.Query().Has("watch") {
		path += "?watch"
	}
	body, found := s.answers[path]
	if !found {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	if strings.Contains(body, "APIGroupDiscoveryList") {
		w.Header().Set("Content-Type", aggregated)
	}
	_, _ = io.WriteString(w, body)
	return true
}

// fixture returns a small server's discovery with names that are hard to map, such as a plural in two groups.
func fixture() (core, groups string) {
	resource := func(plural, singular, kind string, scope apidiscovery.ResourceScope, shortNames, categories []string) apidiscovery.APIResourceDiscovery {
		return apidiscovery.APIResourceDiscovery{
			Resource: plural, SingularResource: singular, ResponseKind: &metav1.GroupVersionKind{Kind: kind},
			Scope: scope, ShortNames: shortNames, Categories: categories, Verbs: []string{"get", "list", "watch"},
		}
	}
	const namespaced, cluster = apidiscovery.ScopeNamespace, apidiscovery.ScopeCluster
	version := func(name string, resources ...apidiscovery.APIResourceDiscovery) apidiscovery.APIVersionDiscovery {
		return apidiscovery.APIVersionDiscovery{Version: name, Resources: resources, Freshness: apidiscovery.DiscoveryFreshnessCurrent}
	}
	group := func(name string, versions ...apidiscovery.APIVersionDiscovery) apidiscovery.APIGroupDiscovery {
		return apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}, Versions: versions}
	}
	list := func(groups ...apidiscovery.APIGroupDiscovery) string {
		body, err := json.Marshal(apidiscovery.APIGroupDiscoveryList{
			TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}, Items: groups,
		})
		if err != nil {
			panic(err)
		}
		return string(body)
	}
	byhand := []string{"byhand"}
	autoscalers := resource("horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", namespaced, []string{"hpa"}, nil)
	review := resource("tokenreviews", "tokenreview", "TokenReview", cluster, nil, nil)
	review.Verbs = []string{"create"}
	stale := version("v1beta1", resource("pods", "pod", "PodMetrics", namespaced, nil, nil))
	stale.Freshness = apidiscovery.DiscoveryFreshnessStale
	core = list(group("", version("v1",
		resource("pods", "pod", "Pod", namespaced, []string{"po"}, nil),
		resource("events", "event", "Event", namespaced, []string{"ev"}, nil),
		resource("nodes", "node", "Node", cluster, []string{"no"}, nil))))
	groups = list(
		group("events.k8s.io", version("v1", resource("events", "event", "Event", namespaced, []string{"ev"}, nil))),
		group("autoscaling", version("v2", autoscalers), version("v1", autoscalers)),
		group("networking.k8s.io", version("v1", resource("ingresses", "ingress", "Ingress", namespaced, []string{"ing"}, nil))),
		group("authentication.k8s.io", version("v1", review)),
		group("examples-gzh.com", version("v1alpha1", resource("projects", "project", "Project", namespaced, []string{"proj"}, byhand))),
		group("samplecontroller.k8s.io", version("v1alpha1", resource("foos", "foo", "Foo", namespaced, []string{"fo"}, byhand))),
		group("farm.example.com", version("v1",
			resource("oxen", "ox", "Cattle", namespaced, []string{"pods", "fo"}, []string{"nodes"}),
			resource("geese", "", "Goose", namespaced, nil, nil))),
		group("metrics.k8s.io", stale),
	)
	return core, groups
}
