package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
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
	// bundle is whom the API server is to trust when it connects. It must not skip that, or a
	// program that takes the port is sent every request.
	bundle []byte
	// process is the name of this process, which no other has.
	process string
}

var (
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

func apiServiceName(version schema.GroupVersion) string {
	return version.Version + "." + version.Group
}

// objects are the Service, and an APIService for each version.
func (g *registration) objects() []webhook.Object {
	// A Service of type ExternalName is a name for an address. In a cluster it would
	// select Pods.
	objects := []webhook.Object{{Client: g.client.Resource(services).Namespace(serviceNamespace), Want: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": serviceName},
		"spec": map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"},
	}}}}
	for i, version := range versions {
		objects = append(objects, webhook.Object{Client: g.client.Resource(apiServices), Want: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": apiServiceName(version)},
			"spec": map[string]any{
				"group": group, "version": version.Version, "groupPriorityMinimum": int64(1000),
				// The first one is preferred.
				"versionPriority": int64(10 * (len(versions) - i)),
				"service":         map[string]any{"name": serviceName, "namespace": serviceNamespace, "port": int64(g.port)},
				"caBundle":        base64.StdEncoding.EncodeToString(g.bundle),
			},
		}}})
	}
	for i := range objects {
		objects[i].Process = g.process
	}
	return objects
}

// install is for webhook.Keep.
func (g *registration) install(ctx context.Context, first bool) (err error) {
	for _, object := range g.objects() {
		err = cmp.Or(err, object.Install(ctx, first))
	}
	return err
}

// remove deletes what install has written, first the APIServices, and nothing that another
// process has written since.
func (g *registration) remove() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	for _, object := range slices.Backward(g.objects()) {
		err = cmp.Or(err, object.Remove(ctx))
	}
	return err
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
