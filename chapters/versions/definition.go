package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
	// first is the version in which Pizzas are stored before any migration.
	first = "v1alpha1"
	// second is the other one.
	second = "v1beta1"
	// period is how often to ask whether the API server has seen a change.
	period = 50 * time.Millisecond
)

// definition is what this program reads of the CustomResourceDefinition.
type definition struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		Versions []struct {
			Name    string `json:"name"`
			Served  bool   `json:"served"`
			Storage bool   `json:"storage"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		// StoredVersions are those in which an object may be stored. The API server adds
		// the storage version. Only a migration may take one away.
		StoredVersions []string `json:"storedVersions"`
	} `json:"status"`
}

// storage is the version in which objects are written.
func (d definition) storage() string {
	for _, version := range d.Spec.Versions {
		if version.Storage {
			return version.Name
		}
	}
	return "" // The API server admits no such definition.
}

// serve returns the operations that make served what isServed says.
func (d definition) serve(isServed func(version string) bool) (operations []operation) {
	for i, version := range d.Spec.Versions {
		if served := isServed(version.Name); served != version.Served {
			operations = append(operations, operation{"replace", fmt.Sprintf("/spec/versions/%d/served", i), served})
		}
	}
	return operations
}

// operation is one of a JSON Patch (RFC 6902). They take effect together or not at all.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// api sends the requests of this program.
type api struct{ rest rest.Interface }

// send sends a request and reads its answer.
func send(ctx context.Context, request *rest.Request, answer any) error {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return err
	}
	body, err := result.Raw()
	if err != nil {
		return err
	}
	return json.Unmarshal(body, answer)
}

// definition reads the definition.
func (a *api) definition(ctx context.Context) (d definition, err error) {
	err = send(ctx, a.rest.Get().AbsPath(definitionPath), &d)
	if apierrors.IsNotFound(err) {
		err = fmt.Errorf("%w: install it with `kubectl apply -f chapters/versions/config/crd`, then start again", err)
	}
	return d, err
}

// install makes url the webhook that converts, and serves every version.
func (a *api) install(ctx context.Context, url string, bundle []byte) error {
	return a.change(ctx, func(now definition) []operation {
		every := func(string) bool { return true }
		return append(now.serve(every), operation{"add", "/spec/conversion", map[string]any{
			"strategy": "Webhook",
			"webhook": map[string]any{
				"clientConfig":             map[string]any{"url": url, "caBundle": bundle},
				"conversionReviewVersions": []string{"v1"},
			},
		}})
	})
}

// leave makes the definition what is right when nobody converts: only the storage version
// is served, and the other one is gone. The webhook stays if a Pizza may be stored in
// another version than the one that config/crd stores: a request that fails is better than
// an object with the fields of one version and the name of the other. No definition is fine
// as well.
func (a *api) leave(ctx context.Context) (stays bool, gone string, err error) {
	err = a.change(ctx, func(now definition) []operation {
		storage := now.storage()
		gone = second
		if storage == second {
			gone = first
		}
		operations := now.serve(func(version string) bool { return version == storage })
		stays = !slices.Equal(now.Status.StoredVersions, []string{first})
		if !stays {
			operations = append(operations, operation{"add", "/spec/conversion", map[string]any{"strategy": "None"}})
		}
		return operations
	})
	if apierrors.IsNotFound(err) {
		return false, second, nil
	}
	return stays, gone, err
}

// change patches the definition with the operations for what it says now. If somebody
// changes it in between it is read again.
func (a *api) change(ctx context.Context, decide func(now definition) []operation) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := a.definition(ctx)
		if err != nil {
			return err
		}
		// The paths count versions. With the resourceVersion in it the patch is refused,
		// with Conflict, if these are not the versions that were read.
		body, err := json.Marshal(append(decide(now), operation{"replace", "/metadata/resourceVersion", now.Metadata.ResourceVersion}))
		if err != nil {
			return err
		}
		return send(ctx, a.rest.Patch(types.JSONPatchType).AbsPath(definitionPath).Body(body), &now)
	})
	if err != nil {
		return fmt.Errorf("change the CustomResourceDefinition: %w", err)
	}
	return nil
}

// pizzas is the path of all Pizzas in a version.
func pizzas(version string) string { return "/apis/" + v1alpha1.GroupName + "/" + version + "/pizzas" }

// await waits until the API server has seen a change of the definition: until it serves a
// version, with a Pizza converted to it if there is one, or does not serve it any more.
func (a *api) await(ctx context.Context, version string, served bool) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, period, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = a.rest.Get().AbsPath(pizzas(version)).Param("limit", "1").Do(ctx).Error()
		if served {
			return last == nil, nil
		}
		return apierrors.IsNotFound(last), nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case served:
		return fmt.Errorf("the API server does not serve %s: %w", version, last)
	default:
		return fmt.Errorf("the API server still serves %s", version)
	}
}
