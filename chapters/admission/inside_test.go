//go:build integration

package main

import (
	"flag"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"example.com/byhand/kit/serve"
)

// TestInside: the API server accepts the manifests, and their parts match. No Pod runs here.
func TestInside(t *testing.T) {
	c := newCluster(t)
	render := "kubectl kustomize config/inside | sed s/byhand-system/" + c.Namespace + "/g"
	c.Shell(render + " | kubectl apply --dry-run=server -f -")
	var service corev1.Service
	var deployment appsv1.Deployment
	for document := range strings.SplitSeq(c.Shell(render), "\n---\n") {
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
	var o options
	flags := flag.NewFlagSet("admission", flag.ContinueOnError)
	o.define(flags)
	if err := flags.Parse(args); err != nil || !o.inside() {
		t.Fatalf("the program's arguments %q: %v", args, err)
	}

	// The API server checks the certificate for the Service's name.
	if want := []string{service.Name + "." + service.Namespace + ".svc"}; !slices.Equal(o.hosts(), want) {
		t.Errorf("the certificate is for %q, want %q", o.hosts(), want)
	}
	// It calls port 443, which must lead to the program's port.
	port := service.Spec.Ports[0]
	if port.Port != 443 || port.TargetPort != intstr.FromString(container.Ports[0].Name) || o.listen != ":8443" || container.Ports[0].ContainerPort != 8443 {
		t.Errorf("port %+v leads to %+v, and the program listens on %s", port, container.Ports[0], o.listen)
	}
	for key, value := range service.Spec.Selector {
		if deployment.Spec.Template.Labels[key] != value {
			t.Errorf("the Service selects %s=%s, the Pod has %v", key, value, deployment.Spec.Template.Labels)
		}
	}

	// The registration is accepted as well.
	certificate, err := serve.NewCertificate(o.hosts(), serve.Lifetime)
	if err != nil {
		t.Fatal(err)
	}
	at := place{service: o.service, namespace: c.Namespace, bundle: certificate.Bundle()}
	registration, err := newRegistration(dynamic.NewForConfigOrDie(c.Config), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := registration.install(t.Context()); err != nil {
		t.Error(err)
	}
}
