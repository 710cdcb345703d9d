package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"example.com/byhand/chapters/internal/webhook"
)

const (
	// An APIService has no URL: it names a Service, here one in the namespace default.
	serviceName = "aggregated-restaurant"
	// serviceHost is the name in this server's certificate. It is not looked up in DNS.
	serviceHost = serviceName + "." + metav1.NamespaceDefault + ".svc"

	availableTimeout, endTimeout = time.Minute, 10 * time.Second
)

var apiServiceName = version.Version + "." + version.Group

// registration registers this server's group. It is installed last and removed first: while the server is
// down it blocks the deletion of every namespace. bundle has the certificate to trust. process is unique.
func registration(client dynamic.Interface, port int, bundle []byte, process string) []webhook.Object {
	// In a cluster the Service would select Pods.
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": serviceName},
		"spec": map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"},
	}}
	// If two groups have the same short name, the higher groupPriorityMinimum wins (a CRD's group has
	// 1000). kubectl prefers the version with the higher versionPriority.
	apiService := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": apiServiceName},
		"spec": map[string]any{
			"group": version.Group, "version": version.Version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
			"service":  map[string]any{"name": serviceName, "namespace": metav1.NamespaceDefault, "port": int64(port)},
			"caBundle": base64.StdEncoding.EncodeToString(bundle),
		},
	}}
	services := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "services"}).Namespace(metav1.NamespaceDefault)
	apiServices := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	return []webhook.Object{{Client: services, Want: service, Process: process}, {Client: apiServices, Want: apiService, Process: process}}
}

// waitAvailable returns when the API server forwards requests, and serves the kind's discovery.
func waitAvailable(ctx context.Context, client *discovery.DiscoveryClient) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, availableTimeout, true, func(ctx context.Context) (bool, error) {
		_, passedOn := client.ServerResourcesForGroupVersionWithContext(ctx, version.String())
		_, told, _, err := client.GroupsAndMaybeResourcesWithContext(ctx)
		return passedOn == nil && err == nil && told[version] != nil, nil
	})
	if err != nil && ctx.Err() == nil {
		// Report the APIService's reason: the APIService will be deleted.
		var apiService struct {
			Status struct{ Conditions []struct{ Message string } }
		}
		answer, _ := client.RESTClient().Get().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices", apiServiceName).Do(ctx).Raw()
		_ = json.Unmarshal(answer, &apiService)
		err = fmt.Errorf("the API server cannot reach this program, which must run where that does (README.md, Try it): %w: %v", err, apiService.Status.Conditions)
	}
	return err
}
