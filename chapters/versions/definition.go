package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

const (
	definitionPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pizzas." + v1alpha1.GroupName
	// period is how often to check whether the API server has seen a change.
	period = 50 * time.Millisecond
	// patience limits that. The API server watches the definitions and needs some milliseconds.
	patience = time.Minute
)

// definition has the fields of the CustomResourceDefinition that this program reads.
type definition struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		Conversion conversionSpec `json:"conversion"`
		Versions   []version      `json:"versions"`
	} `json:"spec"`
	Status struct {
		// StoredVersions are the versions in which objects may be stored. The API server adds
		// the storage version. Only a migration may remove one.
		StoredVersions []string `json:"storedVersions"`
	} `json:"status"`
}

type version struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`
}

func (v version) stored() bool { return v.Storage }

// conversionSpec selects the conversion: none, or a webhook.
type conversionSpec struct {
	Strategy string             `json:"strategy"`
	Webhook  *conversionWebhook `json:"webhook,omitempty"`
}

type conversionWebhook struct {
	ClientConfig clientConfig `json:"clientConfig"`
	// ConversionReviewVersions are the review versions that the webhook supports.
	ConversionReviewVersions []string `json:"conversionReviewVersions"`
}

// clientConfig is the webhook's address. CABundle has its trusted certificates, as PEM.
type clientConfig struct {
	URL      string `json:"url"`
	CABundle []byte `json:"caBundle"`
}

// storage returns the version in which objects are written.
func (d definition) storage() string {
	return d.Spec.Versions[slices.IndexFunc(d.Spec.Versions, version.stored)].Name
}

func (d definition) names(url string) bool {
	webhook := d.Spec.Conversion.Webhook
	return webhook != nil && webhook.ClientConfig.URL == url
}

type api struct{ rest rest.Interface }

func (a *api) definition(ctx context.Context) (d definition, err error) {
	answer := a.rest.Get().AbsPath(definitionPath).Do(ctx)
	if apierrors.IsNotFound(answer.Error()) {
		return d, fmt.Errorf("%w: install it with `kubectl apply -f chapters/versions/config/crd`, then start again", answer.Error())
	}
	body, err := answer.Raw()
	if err = cmp.Or(answer.Error(), err); err == nil {
		err = json.Unmarshal(body, &d)
	}
	return d, err
}

// install makes url the conversion webhook, and serves every version.
func (a *api) install(ctx context.Context, url string, bundle []byte) error {
	return a.change(ctx, func(now definition) (served []string, converts *conversionSpec) {
		for _, version := range now.Spec.Versions {
			served = append(served, version.Name)
		}
		return served, &conversionSpec{Strategy: "Webhook", Webhook: &conversionWebhook{
			ClientConfig:             clientConfig{URL: url, CABundle: bundle},
			ConversionReviewVersions: []string{"v1"},
		}}
	})
}

// leave prepares the CRD for this process's exit, unless another process has replaced the
// webhook, and reports the change. Only the storage version is served, which needs no
// conversion. The webhook is removed only if every Pizza is stored as v1alpha1, as in
// config/crd. Otherwise applying that file again would produce objects with one version's
// fields and the other's name; a failing request is better.
func (a *api) leave(ctx context.Context, url string) (did string, err error) {
	err = a.change(ctx, func(now definition) (served []string, converts *conversionSpec) {
		if !now.names(url) {
			did = "unchanged: the definition does not name this webhook"
			return nil, nil
		}
		storage := now.storage()
		if !slices.Equal(now.Status.StoredVersions, []string{v1alpha1.SchemeGroupVersion.Version}) {
			did = fmt.Sprintf("kept: Pizzas are stored as %q, so the definition keeps the webhook, and only %s is served", now.Status.StoredVersions, storage)
			return []string{storage}, nil
		}
		did = fmt.Sprintf("removed: nothing converts, and only %s is served", storage)
		return []string{storage}, &conversionSpec{Strategy: "None"}
	})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	return did, err
}

// change writes the served versions to the definition, and returns when the API server serves
// them. converts replaces spec.conversion, unless it is nil. If decide returns no version,
// nothing is written. If another client writes first, decide is called again.
func (a *api) change(ctx context.Context, decide func(now definition) (served []string, converts *conversionSpec)) error {
	var now definition
	var served []string
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if now, err = a.definition(ctx); err != nil {
			return err
		}
		var converts *conversionSpec
		if served, converts = decide(now); served == nil {
			return nil
		}
		body, err := json.Marshal(now.patch(served, converts))
		if err != nil {
			return err
		}
		return a.rest.Patch(types.JSONPatchType).AbsPath(definitionPath).Body(body).Do(ctx).Error()
	})
	if err != nil {
		return fmt.Errorf("change the CustomResourceDefinition: %w", err)
	}
	if served == nil {
		return nil
	}
	for _, version := range now.Spec.Versions {
		if err := a.await(ctx, version.Name, slices.Contains(served, version.Name)); err != nil {
			return err
		}
	}
	return nil
}

// operation is part of a JSON Patch (RFC 6902). A patch takes effect completely or not at all.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// patch returns the patch for the function change. Its paths have indexes of versions, so it includes the
// resourceVersion: the API server rejects it with Conflict if the versions have changed.
func (d definition) patch(served []string, converts *conversionSpec) []operation {
	operations := []operation{{"replace", "/metadata/resourceVersion", d.Metadata.ResourceVersion}}
	for i, version := range d.Spec.Versions {
		operations = append(operations, operation{"replace", fmt.Sprintf("/spec/versions/%d/served", i), slices.Contains(served, version.Name)})
	}
	if converts != nil {
		operations = append(operations, operation{"add", "/spec/conversion", converts})
	}
	return operations
}

// pizzas returns the path of all Pizzas in a version.
func pizzas(version string) string { return "/apis/" + v1alpha1.GroupName + "/" + version + "/pizzas" }

// order creates a Pizza. A version other than the storage version needs a conversion.
func (a *api) order(version string) *rest.Request {
	path := strings.Replace(pizzas(version), "/pizzas", "/namespaces/default/pizzas", 1)
	return a.rest.Post().AbsPath(path).Body([]byte(`{"apiVersion":"` + v1alpha1.GroupName + "/" + version + `","kind":"Pizza","metadata":{"generateName":"byhand-"},"spec":{"toppings":[]}}`))
}

// await waits until the API server has seen a change of the definition: until it lists
// Pizzas in a version, or responds that the resource does not exist.
func (a *api) await(ctx context.Context, version string, served bool) error {
	var answer error
	err := wait.PollUntilContextTimeout(ctx, period, patience, true, func(ctx context.Context) (bool, error) {
		answer = a.rest.Get().AbsPath(pizzas(version)).Param("limit", "1").Do(ctx).Error()
		if served {
			return answer == nil, nil
		}
		return apierrors.IsNotFound(answer), nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("the API server does not follow the definition (%s served: %t): it answers %v", version, served, answer)
	}
	return err
}
