package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Resource describes one resource in one version, from discovery.
type Resource struct {
	// The location and the kind of its objects. A RESTMapper maps between the two, in both
	// directions.
	GVR schema.GroupVersionResource
	GVK schema.GroupVersionKind
	// Namespaced is the scope: whether its objects are in namespaces. A URL depends on it.
	Namespaced bool
	// The other words for the plural GVR.Resource, and the verbs, in lower case.
	apidiscovery.APIResourceDiscovery
}

// aggregated requests all groups, versions and resources in one response. For plain
// application/json a server sends only the names of groups and versions, and a client needs
// one more request for each: about 25 on a new cluster.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Discover is the second registry: the resources this server has now. CRDs come and go while
// a server runs. Discover sends
//
//	GET /api (the first group, whose name is empty, and which is older than groups)
//	GET /apis (all other groups)
//
// The result has the server's order, which matters: if a word matches several resources, the
// server prefers the first.
//
// Another server may serve a group. If it does not respond, its versions are stale: their
// resources are outdated or missing. Stale versions are returned separately; the rest is valid.
func Discover(ctx context.Context, client rest.Interface) (resources []Resource, stale []schema.GroupVersion, err error) {
	for _, path := range []string{"/api", "/apis"} {
		answer, err := client.Get().AbsPath(path).SetHeader("Accept", aggregated).Do(ctx).Raw()
		var refused apierrors.APIStatus
		switch {
		case errors.As(err, &refused):
			return nil, nil, fmt.Errorf("discovery, GET %s: %w", path, err)
		case err != nil:
			return nil, nil, fmt.Errorf("discovery: %w: is the cluster running, and is this its address? (`make cluster` starts one)", err)
		}
		var list apidiscovery.APIGroupDiscoveryList
		if err := json.Unmarshal(answer, &list); err != nil || list.Kind != "APIGroupDiscoveryList" {
			return nil, nil, fmt.Errorf("discovery, GET %s: the response is not an APIGroupDiscoveryList of version v2: is this a Kubernetes API server, 1.30 or newer? (%.40q…)", path, answer)
		}
		for _, group := range list.Items {
			for _, version := range group.Versions {
				gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
				if version.Freshness == apidiscovery.DiscoveryFreshnessStale {
					stale = append(stale, gv)
					continue
				}
				resources = append(resources, resourcesOf(gv, version)...)
			}
		}
	}
	return resources, stale, nil
}

func resourcesOf(gv schema.GroupVersion, version apidiscovery.APIVersionDiscovery) (resources []Resource) {
	for _, r := range version.Resources {
		// A resource that is only the parent of a subresource has no kind.
		if r.ResponseKind == nil || r.ResponseKind.Kind == "" {
			continue
		}
		resources = append(resources, Resource{
			GVR:                  gv.WithResource(r.Resource),
			GVK:                  gv.WithKind(r.ResponseKind.Kind),
			Namespaced:           r.Scope == apidiscovery.ScopeNamespace,
			APIResourceDiscovery: r,
		})
	}
	return resources
}
