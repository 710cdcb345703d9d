package main

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"example.com/byhand/chapters/internal/webhook"
)

// What is asked, about which requests. Where, and whom to trust, comes at run time.
var (
	//go:embed config/webhook/mutating.yaml
	mutatingYAML []byte
	//go:embed config/webhook/validating.yaml
	validatingYAML []byte
)

// place is where the API server asks, and about which namespace.
type place struct {
	// url is where it asks, outside the cluster: https://HOST:PORT. In a Pod it is empty, and
	// service is the Service before it.
	url     string
	service types.NamespacedName
	// namespace is the only one to be asked about, "" for all.
	namespace string
	// bundle is whom the API server trusts there.
	bundle []byte
}

// registration tells the API server of the webhooks: two objects.
type registration []webhook.Object

// newRegistration returns the registration of this process at a place.
func newRegistration(client dynamic.Interface, at place) (registration, error) {
	mutating, validating, err := at.configurations()
	if err != nil {
		return nil, err
	}
	process := rand.Text()
	var r registration
	for resource, configuration := range map[string]runtime.Object{"mutatingwebhookconfigurations": mutating, "validatingwebhookconfigurations": validating} {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(configuration)
		if err != nil {
			return nil, err
		}
		r = append(r, webhook.Object{
			Client:  client.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource(resource)),
			Want:    &unstructured.Unstructured{Object: fields},
			Process: process,
		})
	}
	return r, nil
}

// install registers both.
func (r registration) install(ctx context.Context) error {
	return cmp.Or(r[0].Install(ctx), r[1].Install(ctx))
}

// remove takes both away. A process that does not leaves an API server that asks a port where
// nothing answers, and with failurePolicy Fail refuses every Pizza.
func (r registration) remove(ctx context.Context) error {
	return errors.Join(r[0].Remove(ctx), r[1].Remove(ctx))
}

// configurations returns what is installed.
func (at place) configurations() (*admissionregistrationv1.MutatingWebhookConfiguration, *admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := errors.Join(yaml.UnmarshalStrict(mutatingYAML, mutating), yaml.UnmarshalStrict(validatingYAML, validating)); err != nil {
		return nil, nil, err
	}
	for i := range mutating.Webhooks {
		mutating.Webhooks[i].ClientConfig = at.clientConfig(mutatePath)
		mutating.Webhooks[i].NamespaceSelector = at.selector()
	}
	for i := range validating.Webhooks {
		validating.Webhooks[i].ClientConfig = at.clientConfig(validatePath)
		validating.Webhooks[i].NamespaceSelector = at.selector()
	}
	return mutating, validating, nil
}

// clientConfig says where the API server asks, and whom it trusts there. Without a bundle
// it would trust whom its machine trusts.
func (at place) clientConfig(path string) admissionregistrationv1.WebhookClientConfig {
	config := admissionregistrationv1.WebhookClientConfig{CABundle: at.bundle}
	if at.url != "" {
		config.URL = new(at.url + path)
	} else {
		config.Service = &admissionregistrationv1.ServiceReference{Namespace: at.service.Namespace, Name: at.service.Name, Path: &path}
	}
	return config
}

func (at place) selector() *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if at.namespace != "" {
		// The API server sets this label.
		selector.MatchLabels = map[string]string{corev1.LabelMetadataName: at.namespace}
	}
	return selector
}

func (at place) String() string {
	if at.url != "" {
		return at.url
	}
	return "Service " + at.service.String()
}
