package connect_test

import (
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/connect"
)

// The limit is that of all clients together: those of both clientsets take from one
// limiter.
func TestLimit(t *testing.T) {
	for _, qps := range []float64{5, -1} {
		config := &rest.Config{Host: "http://api.test"}
		connect.Limit(config, qps, 10)
		client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
		foos, deployments := client.SamplecontrollerV1alpha1().RESTClient().GetRateLimiter(), kube.AppsV1().RESTClient().GetRateLimiter()
		switch {
		case foos != deployments:
			t.Errorf("%v a second: Foos and Deployments have a limiter each", qps)
		case qps < 0 && foos != nil:
			t.Errorf("no limit: there is a limiter of %v a second", foos.QPS())
		case qps > 0 && foos.QPS() != float32(qps):
			t.Errorf("%v a second: the limiter allows %v", qps, foos.QPS())
		}
	}
}
