package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

const (
	// serviceName is a Service in the namespace default, the only one that cannot be
	// deleted. An APIService has no URL: it names a Service.
	serviceName      = "aggregated-restaurant"
	serviceNamespace = metav1.NamespaceDefault
	// serviceHost is the name in this server's certificate. The API server does not ask
	// any DNS for it.
	serviceHost = serviceName + "." + serviceNamespace + ".svc"

	// availableTimeout is for the API server to ask this one for the first time, endTimeout
	// for what is done when the program ends.
	availableTimeout, endTimeout = time.Minute, 10 * time.Second
)

// registration tells the API server that this server has a group. While it stands and the
// server does not answer, kubectl complains about the group, and no namespace can be
// deleted: the namespace controller cannot know what is in it. So it comes last and goes
// first.
type registration struct {
	client    dynamic.Interface
	discovery *discovery.DiscoveryClient
	port      int
}

var (
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

func apiServiceName(version schema.GroupVersion) string {
	return version.Version + "." + version.Group
}

// install writes the Service and an APIService for each version, whether they are there or
// not. bundle is whom the API server is to trust when it connects; it must not skip that, or
// a process that takes the port is sent every request.
func (g *registration) install(ctx context.Context, bundle []byte) error {
	options := metav1.ApplyOptions{FieldManager: "byhand-apiserver", Force: true}
	// A Service of type ExternalName is a name for an address. In a cluster it would
	// select Pods.
	_, err := g.client.Resource(services).Namespace(serviceNamespace).Apply(ctx, serviceName, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": serviceName},
		"spec": map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"},
	}}, options)
	if err != nil {
		return fmt.Errorf("apply Service %s: %w", serviceName, err)
	}
	for i, version := range versions {
		_, err := g.client.Resource(apiServices).Apply(ctx, apiServiceName(version), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": apiServiceName(version)},
			"spec": map[string]any{
				"group": group, "version": version.Version, "groupPriorityMinimum": 1000,
				// The first one is preferred.
				"versionPriority": 10 * (len(versions) - i),
				"service":         map[string]any{"name": serviceName, "namespace": serviceNamespace, "port": g.port},
				"caBundle":        bundle,
			},
		}}, options)
		if err != nil {
			return fmt.Errorf("apply APIService %s: %w", apiServiceName(version), err)
		}
	}
	return nil
}

// remove deletes what install has written, first the APIServices.
func (g *registration) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	var errs []error
	for _, version := range versions {
		errs = append(errs, g.client.Resource(apiServices).Delete(ctx, apiServiceName(version), metav1.DeleteOptions{}))
	}
	errs = append(errs, g.client.Resource(services).Namespace(serviceNamespace).Delete(ctx, serviceName, metav1.DeleteOptions{}))
	return errors.Join(slices.DeleteFunc(errs, apierrors.IsNotFound)...)
}

// waitAvailable returns when the API server passes requests on, and tells its clients so.
func (g *registration) waitAvailable(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, availableTimeout, true, func(ctx context.Context) (bool, error) {
		_, resources, _, err := g.discovery.GroupsAndMaybeResourcesWithContext(ctx)
		for _, version := range versions {
			// This one is passed on. What was discovered may be of an earlier process.
			if err == nil {
				_, err = g.discovery.ServerResourcesForGroupVersionWithContext(ctx, version.String())
			}
			if err != nil || resources[version] == nil {
				return false, nil // Not yet.
			}
		}
		return true, nil
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("the API server does not reach this one (kubectl describe apiservices %s says why): %w", apiServiceName(hub), err)
}
