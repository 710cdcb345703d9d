package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

func newMapper(t *testing.T, client *Client) Mapper {
	t.Helper()
	resources, stale, err := Discover(t.Context(), client.rest)
	if err != nil {
		t.Fatal(err)
	}
	return Mapper{Resources: resources, Stale: stale}
}

func TestFind(t *testing.T) {
	mapper := newMapper(t, newServer(t).client(t))
	for _, test := range []struct {
		word          string
		found, others []string
		reason        string
	}{
		{"foos", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "plural"},
		{"foo", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "singular"},
		{"Foo", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "kind"},
		{"FOOS", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "names are in lower case, whatever is typed"},
		{"fo", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, []string{"oxen.v1.farm.example.com"}, "of two short names the server's first"},
		{"foos.samplecontroller.k8s.io", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "samplecontroller could be a version"},
		{"foos.v1alpha1.samplecontroller.k8s.io", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "whole"},
		{"ingresses.networking", []string{"ingresses.v1.networking.k8s.io"}, nil, "a group may be shortened"},
		{"byhand", []string{"projects.v1alpha1.examples-gzh.com", "foos.v1alpha1.samplecontroller.k8s.io"}, nil, "a category, in the server's order"},
		{"all", []string{"pods.v1.", "deployments.v1.apps", "horizontalpodautoscalers.v2.autoscaling"}, nil, "a category has each resource once"},
		{"events", []string{"events.v1."}, []string{"events.v1.events.k8s.io"}, "a plural in two groups"},
		{"ev", []string{"events.v1."}, []string{"events.v1.events.k8s.io"}, "a short name in two groups"},
		{"events.events.k8s.io", []string{"events.v1.events.k8s.io"}, nil, "how to name the other"},
		{"pods", []string{"pods.v1."}, nil, "a short name does not hide a name"},
		{"pods.v1.", []string{"pods.v1."}, nil, "a version of the group without a name"},
		{"hpa", []string{"horizontalpodautoscalers.v2.autoscaling"}, nil, "the version that the server prefers"},
		{"horizontalpodautoscalers.v1.autoscaling", []string{"horizontalpodautoscalers.v1.autoscaling"}, nil, "a version that it does not"},
		{"Cattle", []string{"oxen.v1.farm.example.com"}, nil, "a kind that no other name resembles"},
		{"cattle.farm.example.com", []string{"oxen.v1.farm.example.com"}, nil, "a kind in lower case, with its group"},
		{"goose", []string{"geese.v1.farm.example.com"}, nil, "no singular: the kind stands in"},
	} {
		t.Run(test.word, func(t *testing.T) {
			found, others, err := mapper.Find(test.word)
			if err != nil {
				t.Fatalf("%v (%s)", err, test.reason)
			}
			if diff := cmp.Diff([][]string{test.found, test.others}, [][]string{wholeWords(found), wholeWords(others)}); diff != "" {
				t.Errorf("found and others (%s), -want +got:\n%s", test.reason, diff)
			}
		})
	}
	for _, word := range []string{"", ".", "fooo", "foos.v2.samplecontroller.k8s.io", "foos.example.com", "foos/example-foo", "PO", "parents", "podmetrics"} {
		if found, _, err := mapper.Find(word); err == nil || !strings.Contains(err.Error(), "api-resources") || !strings.Contains(err.Error(), "metrics.k8s.io/v1beta1") {
			t.Errorf("%q is %v, error %v: want one that says where to look, and what did not answer", word, wholeWords(found), err)
		}
	}
}

// wholeWords returns plural.version.group of each resource.
func wholeWords(resources []Resource) (words []string) {
	for _, r := range resources {
		words = append(words, r.GVR.Resource+"."+r.GVR.Version+"."+r.GVR.Group)
	}
	return words
}

// Our mapping is that of kubectl, for all words of the fixture.
func TestFindsWhatKubectlFinds(t *testing.T) {
	s := newServer(t)
	compareMappings(t, s.client(t), s.api.Config())
}

// compareMappings compares our mapping with that of client-go, for every word of every
// resource of a server. Both must see the same discovery.
func compareMappings(t *testing.T, client *Client, config *rest.Config) {
	t.Helper()
	kubectl := newKubectl(t, config)
	mapper := newMapper(t, client)
	words := map[string]bool{}
	for _, r := range mapper.Resources {
		for _, word := range slices.Concat(r.ShortNames, r.Categories, []string{
			r.GVR.Resource, r.Singular, r.GVK.Kind, strings.ToLower(r.GVK.Kind),
			r.GVR.Resource + "." + r.GVR.Group,
			r.GVK.Kind + "." + r.GVR.Group,
			r.GVR.Resource + "." + r.GVR.Version + "." + r.GVR.Group,
		}) {
			if word == "" || words[word] {
				continue
			}
			// A kind that its singular does not resemble needs its group for kubectl.
			if strings.EqualFold(word, r.GVK.Kind) && r.Singular != "" && r.Singular != strings.ToLower(word) {
				continue
			}
			words[word] = true
			found, _, err := mapper.Find(word)
			if err != nil {
				t.Errorf("%s: %v", word, err)
				continue
			}
			if diff := cmp.Diff(kubectl.find(t, word), mappings(found)); diff != "" {
				t.Errorf("%s (-client-go +ours):\n%s", word, diff)
			}
		}
	}
	if len(mapper.Resources) < 10 {
		t.Errorf("only %d resources", len(mapper.Resources))
	}
	t.Logf("%d words of %d resources, in %d entries of discovery", len(words), len(mapper.matching(func(Resource) bool { return true })), len(mapper.Resources))
}

// mapping is what a RESTMapper returns.
type mapping struct {
	GVK        schema.GroupVersionKind
	GVR        schema.GroupVersionResource
	Namespaced bool
}

func mappings(resources []Resource) (all []mapping) {
	for _, r := range resources {
		all = append(all, mapping{r.GVK, r.GVR, r.Namespaced})
	}
	return all
}

// kubectl has the parts of client-go that kubectl maps words with.
type kubectl struct {
	mapper     meta.RESTMapper
	categories restmapper.CategoryExpander
}

func newKubectl(t *testing.T, config *rest.Config) kubectl {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	cached := inOrder{memory.NewMemCacheClient(client)}
	return kubectl{
		mapper:     restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil),
		categories: restmapper.NewDiscoveryCategoryExpander(cached),
	}
}

// inOrder is a cache that keeps the server's order, as that of kubectl does. The one below it,
// which controllers use, collects the versions of aggregated discovery in a Go map: with it
// a short name in two groups means now this one, now that one.
type inOrder struct {
	discovery.CachedDiscoveryInterface
}

// ServerGroupsAndResources implements discovery.ServerResourcesInterface.
func (d inOrder) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return discovery.ServerGroupsAndResources(d)
}

// find is what kubectl does with a word: ReplaceAliases, mappingFor and resourceMappings of
// cli-runtime's Builder.
func (k kubectl) find(t *testing.T, word string) (all []mapping) {
	t.Helper()
	words := []string{word}
	if members, ok := k.categories.Expand(word); ok {
		words = nil
		for _, member := range members {
			words = append(words, member.String())
		}
	}
	for _, word := range words {
		found, err := k.mappingFor(word)
		if err != nil {
			t.Errorf("client-go does not find %s: %v", word, err)
			continue
		}
		m := mapping{found.GroupVersionKind, found.Resource, found.Scope.Name() == meta.RESTScopeNameNamespace}
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

func (k kubectl) mappingFor(word string) (*meta.RESTMapping, error) {
	whole, short := schema.ParseResourceArg(word)
	var gvk schema.GroupVersionKind
	if whole != nil {
		gvk, _ = k.mapper.KindFor(*whole)
	}
	if gvk.Empty() {
		gvk, _ = k.mapper.KindFor(short.WithVersion(""))
	}
	if !gvk.Empty() {
		return k.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	_, kind := schema.ParseKindArg(word)
	return k.mapper.RESTMapping(kind)
}
