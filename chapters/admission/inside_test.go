//go:build integration

package main

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"example.com/byhand/chapters/internal/webhook"
)

// TestInside: the API server takes what runs the program in the cluster, and its parts fit
// together: the Service that is registered, its port, the name in the certificate. No Pod
// runs here, so nothing is asked.
func TestInside(t *testing.T) {
	c := newCluster(t)
	rendered := strings.ReplaceAll(c.Kubectl("kustomize", "config/inside"), "byhand-system", c.Namespace)
	if output, err := c.dryRun(rendered); err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, rendered)
	}
	var service corev1.Service
	var deployment appsv1.Deployment
	for document := range strings.SplitSeq(rendered, "\n---\n") {
		var object metav1.TypeMeta
		into := map[string]any{"Service": &service, "Deployment": &deployment}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		if known, ok := into[object.Kind]; ok {
			if err := yaml.UnmarshalStrict([]byte(document), known); err != nil {
				t.Fatal(err)
			}
		}
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	var args []string
	for _, arg := range container.Args {
		args = append(args, strings.ReplaceAll(arg, "$(NAMESPACE)", c.Namespace))
	}
	o, err := parse(args...)
	if err != nil || !o.inside() {
		t.Fatalf("the program's arguments %q: %v", args, err)
	}

	// The API server looks for the name of the Service in the certificate.
	if want := []string{service.Name + "." + service.Namespace + ".svc"}; !slices.Equal(o.hosts(), want) {
		t.Errorf("the certificate is for %q, want %q", o.hosts(), want)
	}
	// It asks port 443, which leads to the port that the program listens on.
	port := service.Spec.Ports[0]
	if port.Port != 443 || port.TargetPort != intstr.FromString(container.Ports[0].Name) || o.listen != ":8443" || container.Ports[0].ContainerPort != 8443 {
		t.Errorf("port %+v leads to %+v, and the program listens on %s", port, container.Ports[0], o.listen)
	}
	for key, value := range service.Spec.Selector {
		if deployment.Spec.Template.Labels[key] != value {
			t.Errorf("the Service selects %s=%s, the Pod has %v", key, value, deployment.Spec.Template.Labels)
		}
	}

	// The registration is taken as well.
	certificate, err := webhook.NewCertificate(o.hosts(), webhook.Lifetime)
	if err != nil {
		t.Fatal(err)
	}
	at := place{service: o.service, namespace: c.Namespace, bundle: certificate.Bundle()}
	mutating, validating, err := at.configurations()
	if err != nil {
		t.Fatal(err)
	}
	dryRun, client := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, c.Kube.AdmissionregistrationV1()
	if _, err := client.MutatingWebhookConfigurations().Create(t.Context(), mutating, dryRun); err != nil {
		t.Error(err)
	}
	if _, err := client.ValidatingWebhookConfigurations().Create(t.Context(), validating, dryRun); err != nil {
		t.Error(err)
	}
}
