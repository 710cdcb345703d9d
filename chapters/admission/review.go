package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// The paths that the API server calls.
const (
	mutatePath   = "/mutate"
	validatePath = "/validate"
)

// defaultToppings are the toppings of a pizza that names none.
var defaultToppings = []string{"tomato", "mozzarella", "salami"}

type reviewer struct {
	// has reports whether a Topping of this name exists. After an error it is unknown.
	has func(ctx context.Context, name string) (bool, error)
	// said logs each decision.
	said func(format string, args ...any)
}

func (r *reviewer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(mutatePath, webhook.Review(r.review(mutate)))
	mux.Handle(validatePath, webhook.Review(r.review(r.validate)))
	return mux
}

// A decision returns a response, still without its uid, and a description. After an error the
// failurePolicy decides.
type decision func(ctx context.Context, request *admissionv1.AdmissionRequest) (response *admissionv1.AdmissionResponse, why string, err error)

// review decodes an AdmissionReview, calls decide, and encodes the response with the same
// apiVersion, kind and uid: otherwise the API server rejects it.
func (r *reviewer) review(decide decision) webhook.Decide {
	pizzas := metav1.GroupVersionResource(v1alpha1.SchemeGroupVersion.WithResource("pizzas"))
	return func(ctx context.Context, body []byte) (any, error) {
		var review admissionv1.AdmissionReview
		// encoding/json would accept "Request" as "request".
		if err := utiljson.Unmarshal(body, &review); err != nil {
			return nil, webhook.Invalid("the body is not an AdmissionReview: %w", err)
		}
		request := review.Request
		switch {
		case review.GroupVersionKind() != admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"):
			return nil, webhook.Invalid("got a %.100q of %.100q, want an AdmissionReview of admission.k8s.io/v1", review.Kind, review.APIVersion)
		case request == nil:
			return nil, webhook.Invalid("the AdmissionReview has no request")
		case request.Resource != pizzas:
			return nil, webhook.Invalid("the resource is %.300s: the webhook is registered for more than v1alpha1 pizzas", request.Resource.String())
		}
		response := &admissionv1.AdmissionResponse{Allowed: true}
		// A subresource is a different resource, and a deletion has no new object. This
		// program's rules exclude both; other rules may not.
		if request.SubResource == "" && (request.Operation == admissionv1.Create || request.Operation == admissionv1.Update) {
			if len(request.Object.Raw) == 0 {
				return nil, webhook.Invalid("the request to %s has no object", request.Operation)
			}
			decided, why, err := decide(ctx, request)
			if err != nil {
				return nil, err
			}
			// Truncated: any client that reaches the server can send a name.
			r.said("%s Pizza %.320q: %.500s", request.Operation, request.Namespace+"/"+request.Name, why)
			response = decided
		}
		response.UID = request.UID
		return &admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response}, nil
	}
}

// mutate gives a pizza without toppings the default ones, with a patch of one operation. A
// patch computed as the difference from a decoded Go type would also remove each field that
// the type lacks.
func mutate(_ context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, string, error) {
	response := &admissionv1.AdmissionResponse{Allowed: true}
	spec, err := specOf(request.Object)
	if err != nil {
		// The schema is checked later, with a better message.
		return response, "left as it is: " + err.Error(), nil
	}
	if spec != nil && len(spec.Toppings) > 0 {
		return response, "left as it is", nil
	}
	operation := map[string]any{"op": "add", "path": "/spec/toppings", "value": defaultToppings}
	if spec == nil {
		// An operation cannot add a field below a missing one.
		operation["path"], operation["value"] = "/spec", v1alpha1.PizzaSpec{Toppings: defaultToppings}
	}
	response.PatchType = new(admissionv1.PatchTypeJSONPatch)
	response.Patch, err = json.Marshal([]any{operation})
	return response, fmt.Sprintf("gets %q", defaultToppings), err
}

// validate rejects a pizza with a topping that does not exist, unless the pizza already has it: see doc.go.
func (r *reviewer) validate(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, string, error) {
	spec, err := specOf(request.Object)
	if err != nil {
		return refused("the toppings cannot be read: %v", err)
	}
	allowed := sets.New[string]()
	if old, err := specOf(request.OldObject); err == nil && old != nil {
		allowed.Insert(old.Toppings...)
	}
	if spec == nil {
		spec = &v1alpha1.PizzaSpec{}
	}
	for _, name := range spec.Toppings {
		if allowed.Has(name) {
			continue
		}
		exists, err := r.has(ctx, name)
		if err != nil {
			return nil, "", fmt.Errorf("look for the topping %.100q: %w", name, err)
		}
		if !exists {
			return refused("there is no topping %.100q (kubectl get toppings lists all toppings)", name)
		}
		allowed.Insert(name)
	}
	return &admissionv1.AdmissionResponse{Allowed: true}, "allowed", nil
}

// refused returns a rejection, with the same code as a rejection by the schema.
func refused(format string, args ...any) (*admissionv1.AdmissionResponse, string, error) {
	why := fmt.Sprintf(format, args...)
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: why,
	}}, "refused: " + why, nil
}

// specOf decodes a Pizza's spec, nil if missing. A mutating webhook is called before the
// schema is checked, so the spec may be anything.
func specOf(object runtime.RawExtension) (*v1alpha1.PizzaSpec, error) {
	if len(object.Raw) == 0 {
		return nil, nil
	}
	var pizza struct {
		Spec *v1alpha1.PizzaSpec `json:"spec"`
	}
	err := utiljson.Unmarshal(object.Raw, &pizza)
	return pizza.Spec, err
}
