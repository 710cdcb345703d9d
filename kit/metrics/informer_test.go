package metrics_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
	"example.com/byhand/kit/metrics"
)

// Each scrape reads the stores again.
func TestInformers(t *testing.T) {
	m := metrics.New()
	client := kubefake.NewClientset(
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "two"}})
	deployments := informer.NewDeployments(client, "", 0, cache.ResourceEventHandlerFuncs{})
	m.Informers(deployments)
	expect(t, m, map[string]float64{
		`informer_ready{group="apps",resource="deployments"}`:         0,
		`informer_store_objects{group="apps",resource="deployments"}`: 0,
	})
	go deployments.Run(t.Context())
	expect(t, m, map[string]float64{
		`informer_ready{group="apps",resource="deployments"}`:         1,
		`informer_store_objects{group="apps",resource="deployments"}`: 2,
	})
}
