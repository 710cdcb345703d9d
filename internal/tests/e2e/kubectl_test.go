//go:build integration

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// The columns show whether a Foo is ready and why not, and a Project's replicas.
func TestColumns(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.controller()
	s.createProject("project", 2)
	if _, err := s.kube.AppsV1().Deployments(s.namespace).Create(t.Context(), foreignDeployment("theirs"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.createFoo("ready", spec("deployment", 2))
	s.createFoo("any", v1alpha1.FooSpec{DeploymentName: "any"})
	s.createFoo("taken", spec("theirs", 1))
	s.waitFor("condition=Ready", "foo/ready")
	s.waitFor("condition=Ready", "foo/any")
	s.waitFor("condition=Ready=False", "foo/taken")

	age := regexp.MustCompile(`\d+s$`)
	for resource, want := range map[string][][]string{
		"foo": {
			{"NAME", "DEPLOYMENT", "REPLICAS", "AVAILABLE", "READY", "REASON", "AGE"},
			{"any", "any", "1", "True", "Available", "AGE"}, // neither the Foo nor a user sets replicas
			{"ready", "deployment", "2", "2", "True", "Available", "AGE"},
			{"taken", "theirs", "1", "0", "False", "NameTaken", "AGE"},
		},
		"project": {
			{"NAME", "REPLICAS", "AGE"},
			{"project", "2", "AGE"},
		},
	} {
		var got [][]string
		for line := range strings.Lines(s.kubectl("get", resource, "-n", s.namespace)) {
			got = append(got, strings.Fields(age.ReplaceAllString(strings.TrimSpace(line), "AGE")))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kubectl get %s (-want +got):\n%s", resource, diff)
		}
	}
	c.Stop()
}
