package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

const (
	// serviceName is a Service in the namespace default, the only one that cannot be
	// deleted. An APIService has no URL: it names a Service.
	serviceName      = "aggregated-restaurant"
	serviceNamespace = metav1.NamespaceDefault
	// serviceHost is the name in this server's certificate. The API server does not ask
	// any DNS for it.
	serviceHost = serviceName + "." + serviceNamespace + ".svc"

	servicePath     = "/api/v1/namespaces/" + serviceNamespace + "/services/" + serviceName
	apiServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices/"

	// availableTimeout is for the API server to ask this one for the first time.
	availableTimeout = time.Minute
)

// registration tells the API server that this server has a group. While it stands and the
// server does not answer, kubectl complains about the group, and no namespace can be
// deleted: the namespace controller cannot know what is in it. So it comes last and goes
// first.
type registration struct {
	client rest.Interface
	port   int
}

func apiServiceName(version string) string { return version + "." + group }

// install writes the Service and an APIService for each version. bundle is whom the API
// server is to trust when it connects; it must not skip that, or somebody who takes the
// port is sent every request.
func (g *registration) install(ctx context.Context, bundle []byte) error {
	// A Service of type ExternalName is a name for an address. In a cluster it would
	// select Pods.
	err := g.apply(ctx, servicePath, map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": serviceName, "namespace": serviceNamespace},
		"spec":     map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"},
	})
	if err != nil {
		return err
	}
	for i, version := range versions {
		err := g.apply(ctx, apiServicesPath+apiServiceName(version), map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
			"metadata": map[string]any{"name": apiServiceName(version)},
			"spec": map[string]any{
				"group": group, "version": version, "groupPriorityMinimum": 1000,
				// The first one is preferred.
				"versionPriority": 10 * (len(versions) - i),
				"service":         map[string]any{"name": serviceName, "namespace": serviceNamespace, "port": g.port},
				"caBundle":        bundle,
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// apply makes an object what it should be, whether it exists or not.
func (g *registration) apply(ctx context.Context, path string, o map[string]any) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	err = g.client.Patch(types.ApplyYAMLPatchType).AbsPath(path).
		Param("fieldManager", "byhand-apiserver").Param("force", "true").Body(body).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("apply %s: %w", path, err)
	}
	return nil
}

// remove deletes what install has written, first the APIServices.
func (g *registration) remove(ctx context.Context) error {
	var errs error
	paths := []string{servicePath}
	for _, version := range versions {
		paths = append([]string{apiServicesPath + apiServiceName(version)}, paths...)
	}
	for _, path := range paths {
		if err := g.client.Delete().AbsPath(path).Do(ctx).Error(); err != nil && !apierrors.IsNotFound(err) {
			errs = errors.Join(errs, fmt.Errorf("delete %s: %w", path, err))
		}
	}
	return errs
}

// waitAvailable returns when the API server passes requests on, and kubectl can know that.
func (g *registration) waitAvailable(ctx context.Context) error {
	var last string
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, availableTimeout, true, func(ctx context.Context) (bool, error) {
		for _, version := range versions {
			isAvailable, message, err := g.isAvailable(ctx, version)
			if last = message; err != nil || !isAvailable {
				return false, err
			}
		}
		last = "it does not list " + group
		return g.isDiscovered(ctx)
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the API server does not reach this one: %s: %w", last, err)
	}
	return err
}

func (g *registration) isAvailable(ctx context.Context, version string) (isAvailable bool, message string, err error) {
	body, err := g.client.Get().AbsPath(apiServicesPath + apiServiceName(version)).Do(ctx).Raw()
	if err != nil {
		return false, "", err
	}
	var apiService struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(body, &apiService); err != nil {
		return false, "", err
	}
	for _, condition := range apiService.Status.Conditions {
		if condition.Type == "Available" {
			return condition.Status == metav1.ConditionTrue, condition.Message, nil
		}
	}
	return false, "it has not tried", nil
}

// isDiscovered reports whether the API server tells its clients of the group.
func (g *registration) isDiscovered(ctx context.Context) (bool, error) {
	body, err := g.client.Get().AbsPath("/apis").SetHeader("Accept", discoveryType).Do(ctx).Raw()
	if err != nil {
		return false, err
	}
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return false, err
	}
	for _, discovered := range list.Items {
		if discovered.Name == group {
			isStale := func(v apidiscoveryv2.APIVersionDiscovery) bool {
				return v.Freshness != apidiscoveryv2.DiscoveryFreshnessCurrent
			}
			return len(discovered.Versions) == len(versions) && !slices.ContainsFunc(discovered.Versions, isStale), nil
		}
	}
	return false, nil
}
