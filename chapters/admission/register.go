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

// The requests to review. The address and the certificates are added at run time.
var (
	//go:embed config/webhook/mutating.yaml
	mutatingYAML []byte
	//go:embed config/webhook/validating.yaml
	validatingYAML []byte
)

// place is the webhook's address, and the namespace to review.
type place struct {
	// url is the address outside the cluster: https://HOST:PORT. In a Pod it is empty, and
	// service is the Pod's Service.
	url     string
	service types.NamespacedName
	// namespace is the only one to review, "" for all.
	namespace string
	// bundle has the certificates that the API server trusts at this address.
	bundle []byte
}

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

func (r registration) install(ctx context.Context) error {
	return cmp.Or(r[0].Install(ctx), r[1].Install(ctx))
}

// remove deletes both objects. Otherwise the API server would call a closed port, and with
// failurePolicy Fail reject every Pizza.
func (r registration) remove(ctx context.Context) error {
	return errors.Join(r[0].Remove(ctx), r[1].Remove(ctx))
}

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

// clientConfig returns the address and the trusted certificates. Without a bundle the API
// server would trust the certificate authorities of its machine.
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
