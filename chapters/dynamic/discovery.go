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

// Resource is what discovery says of one resource in one version.
type Resource struct {
	// Where its objects are, and of which kind they are. This pair is what a RESTMapper is
	// asked for, in either direction.
	GVR schema.GroupVersionResource
	GVK schema.GroupVersionKind
	// Namespaced is the scope: whether its objects are in namespaces. Without it no
	// client can make a URL of a GVR.
	Namespaced bool
	// What people type instead of the plural, which is GVR.Resource, and the verbs, in lower case.
	apidiscovery.APIResourceDiscovery
}

// aggregated asks for all groups, versions and resources in one answer. A server that is
// asked for application/json alone sends the names of the groups and versions, and a client
// then sends one more request for each of them: about 25 on a new cluster.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Discover is the second registry: what this server has, now. CRDs come and go while it
// runs. It sends
//
//	GET /api (the first group, whose name is empty, and which is older than groups)
//	GET /apis (all other groups)
//
// The order of what it returns is the server's, and means something: a caller who takes
// the first of several takes the group and the version that the server prefers.
//
// A group may be served by another server, which this one asks. If that one does not
// answer, its versions are stale: what the list has for them is old or nothing. They are
// returned apart, and everything else is still good.
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
			return nil, nil, fmt.Errorf("discovery, GET %s: the answer is no APIGroupDiscoveryList of version v2: is this a Kubernetes API server, 1.30 or newer? (%.40q…)", path, answer)
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
		// A resource that is only the parent of a subresource has no kind of its own.
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
