package main

import (
	"net/http"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// verbs are those of every kind. A client does not try a verb that is missing here.
var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// discoveryType is the type of the aggregated document, as clients ask for it.
const discoveryType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// serveDiscovery answers what is no resource: which groups, versions and kinds there are,
// and what fields they have. The API server asks, on behalf of nobody, and puts the answers
// together with its own. If /apis/GROUP/VERSION is no success, the APIService is not
// available, and its /apis is where kubectl learns of these kinds.
func (s *server) serveDiscovery(w *answerWriter, r *request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return notFound(r)
	}
	rest, isAPIs := strings.CutPrefix(r.URL.Path, "/apis")
	switch {
	case strings.HasPrefix(r.URL.Path, "/openapi/"):
		return s.openAPI.serve(w, r)
	case !isAPIs:
		return notFound(r)
	case rest == "" && strings.Contains(r.Header.Get("Accept"), discoveryType):
		// The type of the answer says what it is: a client that asked for something
		// newer, too, must be able to tell.
		w.Header().Set("Content-Type", discoveryType)
		return w.send(http.StatusOK, groupDiscoveryList())
	case rest == "":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{apiGroup()}}
		return w.send(http.StatusOK, list)
	case rest == "/"+group:
		return w.send(http.StatusOK, apiGroup())
	}
	for _, version := range versions {
		if rest == "/"+group+"/"+version {
			return w.send(http.StatusOK, resourceList(version))
		}
	}
	return notFound(r)
}

// groupDiscoveryList is all of it in one document (aggregated discovery, v2).
func groupDiscoveryList() apidiscoveryv2.APIGroupDiscoveryList {
	discovered := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}}
	for _, version := range versions {
		out := apidiscoveryv2.APIVersionDiscovery{Version: version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
		for _, kind := range kinds {
			out.Resources = append(out.Resources, kind.discovery(version))
		}
		discovered.Versions = append(discovered.Versions, out)
	}
	return apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: typeMeta("APIGroupDiscoveryList", apidiscoveryv2.SchemeGroupVersion),
		Items:    []apidiscoveryv2.APIGroupDiscovery{discovered},
	}
}

func (k *kind) discovery(version string) apidiscoveryv2.APIResourceDiscovery {
	gvk := metav1.GroupVersionKind(k.gvk(version))
	out := apidiscoveryv2.APIResourceDiscovery{
		Resource: k.resource, SingularResource: k.singular, ShortNames: k.shortNames,
		ResponseKind: &gvk, Scope: apidiscoveryv2.ScopeCluster, Verbs: verbs,
	}
	if k.namespaced {
		out.Scope = apidiscoveryv2.ScopeNamespace
	}
	if k.name == "Pizza" {
		out.Subresources = []apidiscoveryv2.APISubresourceDiscovery{{
			Subresource: "price", Verbs: []string{"get"},
			ResponseKind: &metav1.GroupVersionKind{Group: group, Version: version, Kind: "PizzaPrice"},
		}}
	}
	return out
}

// apiGroup is the same in the older form, which needs a request for each group and version.
func apiGroup() metav1.APIGroup {
	out := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: group}
	for _, version := range versions {
		gv := schema.GroupVersion{Group: group, Version: version}
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: version})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

func resourceList(version string) metav1.APIResourceList {
	out := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: schema.GroupVersion{Group: group, Version: version}.String(),
	}
	for _, kind := range kinds {
		out.APIResources = append(out.APIResources, metav1.APIResource{
			Name: kind.resource, SingularName: kind.singular, Namespaced: kind.namespaced,
			Kind: kind.name, Verbs: verbs, ShortNames: kind.shortNames,
		})
	}
	price := metav1.APIResource{Name: "pizzas/price", Namespaced: true, Kind: "PizzaPrice", Verbs: metav1.Verbs{"get"}}
	out.APIResources = append(out.APIResources, price)
	return out
}
