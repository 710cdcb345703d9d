package main

import (
	"io"
	"log"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	client, err := NewClient(newServer(t).api.Config(), log.New(io.Discard, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	resources, stale, err := Discover(t.Context(), client.rest)
	if err != nil {
		t.Fatal(err)
	}
	mapper := Mapper{Resources: resources, Stale: stale}
	for _, test := range []struct {
		word          string
		found, others []string
		reason        string
	}{
		{"foos", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "plural"},
		{"foo", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "singular"},
		{"Foo", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "kind"},
		{"fo", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, []string{"oxen.v1.farm.example.com"}, "the server's first of two short names"},
		{"foos.samplecontroller.k8s.io", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "samplecontroller could be a version"},
		{"foos.v1alpha1.samplecontroller.k8s.io", []string{"foos.v1alpha1.samplecontroller.k8s.io"}, nil, "plural, version and group"},
		{"ingresses.networking", []string{"ingresses.v1.networking.k8s.io"}, nil, "a group may be shortened"},
		{"byhand", []string{"projects.v1alpha1.examples-gzh.com", "foos.v1alpha1.samplecontroller.k8s.io"}, nil, "a category, in the server's order"},
		{"events", []string{"events.v1."}, []string{"events.v1.events.k8s.io"}, "a plural in two groups"},
		{"pods", []string{"pods.v1."}, nil, "a short name does not hide a name"},
		{"nodes", []string{"nodes.v1."}, nil, "a category does not hide a name"},
		{"hpa", []string{"horizontalpodautoscalers.v2.autoscaling"}, nil, "the version that the server prefers"},
		{"horizontalpodautoscalers.v1.autoscaling", []string{"horizontalpodautoscalers.v1.autoscaling"}, nil, "a version that the server does not prefer"},
		{"Cattle", []string{"oxen.v1.farm.example.com"}, nil, "a kind that no other name resembles"},
		{"goose", []string{"geese.v1.farm.example.com"}, nil, "no singular: the kind in lower case"},
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
	for _, word := range []string{"", "fooo", "foos.v2.samplecontroller.k8s.io", "foos.example.com", "podmetrics"} {
		if found, _, err := mapper.Find(word); err == nil || !strings.Contains(err.Error(), "api-resources") || !strings.Contains(err.Error(), "metrics.k8s.io/v1beta1") {
			t.Errorf("%q is %v, error %v: want one that names api-resources and the stale versions", word, wholeWords(found), err)
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
