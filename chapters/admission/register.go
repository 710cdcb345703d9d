package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientv1 "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"sigs.k8s.io/yaml"
)

// What is asked, about which requests. Where, and whom to trust, comes at run time.
var (
	//go:embed config/webhook/mutating.yaml
	mutatingYAML []byte
	//go:embed config/webhook/validating.yaml
	validatingYAML []byte
)

// registration tells the API server of the webhooks.
type registration struct {
	client clientv1.AdmissionregistrationV1Interface
	// url is where the API server asks, outside the cluster: https://HOST:PORT. In a Pod
	// it is empty, and service is the Service before it.
	url     string
	service types.NamespacedName
	// namespace is the only one to be asked about, "" for all.
	namespace string
}

// install writes both configurations. It may be done again and again: each time it takes
// back what others have changed.
func (r *registration) install(ctx context.Context, bundle []byte) error {
	mutating, validating, err := r.configurations(bundle)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: "byhand-admission", Force: new(true)}
	if _, err := r.client.MutatingWebhookConfigurations().Patch(ctx, mutating.Name, types.ApplyPatchType, encode(mutating), options); err != nil {
		return fmt.Errorf("install the mutating webhook: %w", err)
	}
	if _, err := r.client.ValidatingWebhookConfigurations().Patch(ctx, validating.Name, types.ApplyPatchType, encode(validating), options); err != nil {
		return fmt.Errorf("install the validating webhook: %w", err)
	}
	return nil
}

// remove takes both away. Whoever does not leaves an API server that asks nobody, and with
// failurePolicy Fail refuses every Pizza.
func (r *registration) remove(ctx context.Context) error {
	mutating, validating, err := r.configurations(nil)
	if err != nil {
		return err
	}
	return cmp.Or(
		ignoreNotFound(r.client.MutatingWebhookConfigurations().Delete(ctx, mutating.Name, metav1.DeleteOptions{})),
		ignoreNotFound(r.client.ValidatingWebhookConfigurations().Delete(ctx, validating.Name, metav1.DeleteOptions{})))
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// configurations returns what is installed.
func (r *registration) configurations(bundle []byte) (*admissionregistrationv1.MutatingWebhookConfiguration, *admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := errors.Join(yaml.UnmarshalStrict(mutatingYAML, mutating), yaml.UnmarshalStrict(validatingYAML, validating)); err != nil {
		return nil, nil, err
	}
	for i := range mutating.Webhooks {
		mutating.Webhooks[i].ClientConfig = r.clientConfig(mutatePath, bundle)
		mutating.Webhooks[i].NamespaceSelector = r.selector()
	}
	for i := range validating.Webhooks {
		validating.Webhooks[i].ClientConfig = r.clientConfig(validatePath, bundle)
		validating.Webhooks[i].NamespaceSelector = r.selector()
	}
	return mutating, validating, nil
}

// clientConfig says where the API server asks, and whom it trusts there. Without a bundle
// it would trust whom its machine trusts.
func (r *registration) clientConfig(path string, bundle []byte) admissionregistrationv1.WebhookClientConfig {
	config := admissionregistrationv1.WebhookClientConfig{CABundle: bundle}
	if r.url != "" {
		config.URL = new(r.url + path)
	} else {
		config.Service = &admissionregistrationv1.ServiceReference{Namespace: r.service.Namespace, Name: r.service.Name, Path: &path}
	}
	return config
}

func (r *registration) selector() *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if r.namespace != "" {
		// The API server sets this label.
		selector.MatchLabels = map[string]string{corev1.LabelMetadataName: r.namespace}
	}
	return selector
}

func encode(configuration any) []byte {
	data, err := json.Marshal(configuration)
	if err != nil {
		panic(err) // strings, numbers and bytes can be written as JSON
	}
	return data
}

// String is where the API server asks.
func (r *registration) String() string {
	if r.url != "" {
		return r.url
	}
	return "Service " + r.service.String()
}
