package clientset_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
)

// A client is made from a rest.Config, which clientcmd reads from a kubeconfig.
// Here a test server replaces the API server.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL)
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/example-foo" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}`)
			return
		}
		_, _ = io.WriteString(w, `{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo",
			"metadata": {"name": "example-foo"}, "spec": {"deploymentName": "example-foo", "replicas": 1}}`)
	}))
	defer server.Close()

	client, err := clientset.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	foos := client.SamplecontrollerV1alpha1().Foos("default")
	foo, err := foos.Get(context.Background(), "example-foo", metav1.GetOptions{})
	fmt.Println(foo.Spec.DeploymentName, *foo.Spec.Replicas, err)
	_, err = foos.Get(context.Background(), "other", metav1.GetOptions{})
	fmt.Println("not found:", apierrors.IsNotFound(err))
	// Output:
	// GET /apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/example-foo
	// example-foo 1 <nil>
	// GET /apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/other
	// not found: true
}
