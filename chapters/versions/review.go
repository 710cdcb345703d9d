package main

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/chapters/restaurant/conversion"
	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// reviewType is the only review version that this program supports; the definition requests
// it in conversionReviewVersions.
var reviewType = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "ConversionReview"}

// conversionReview is sent by the API server with a request, and returned with a response.
// The API server rejects it if apiVersion or kind are missing.
type conversionReview struct {
	metav1.TypeMeta `json:""`

	Request  *conversionRequest  `json:"request,omitempty"`
	Response *conversionResponse `json:"response,omitempty"`
}

// conversionRequest asks for objects in a different version.
type conversionRequest struct {
	// UID must be returned.
	UID types.UID `json:"uid"`
	// DesiredAPIVersion is a group and a version.
	DesiredAPIVersion string               `json:"desiredAPIVersion"`
	Objects           []stdjson.RawMessage `json:"objects"`
}

// conversionResponse has as many objects as the request, in the same order. The API server
// compares kind, name, namespace and UID of each. From the metadata it uses only labels and
// annotations.
type conversionResponse struct {
	UID              types.UID `json:"uid"`
	ConvertedObjects []object  `json:"convertedObjects"`
	// Result reports success or failure.
	Result metav1.Status `json:"result"`
}

// object is a Pizza of any version.
type object interface {
	runtime.Object
	metav1.Object
}

type converter struct {
	// log gets a line for each Pizza.
	log *log.Logger
}

// review handles one review. A failed conversion is a response, too: with a code other than
// 200 the API server would not read the message.
func (c *converter) review(_ context.Context, body []byte) (any, error) {
	asked := conversionReview{}
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, webhook.Invalid("read the review: %w", err)
	}
	if asked.TypeMeta != reviewType || asked.Request == nil {
		return nil, webhook.Invalid("want a %s of %s with a request", reviewType.Kind, reviewType.APIVersion)
	}
	response := &conversionResponse{UID: asked.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for i, given := range asked.Request.Objects {
		converted, err := convert(given, asked.Request.DesiredAPIVersion)
		if err != nil {
			// All or nothing: a partial list is not allowed.
			message := fmt.Sprintf("object %d: %v", i, err)
			c.log.Printf("failed     %s", message)
			response.ConvertedObjects = nil
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: message}
			break
		}
		// Quoted and truncated: any client that reaches the server can send a name, even of 10 MB.
		c.log.Printf("converted  Pizza %.320q to %s", converted.GetNamespace()+"/"+converted.GetName(), asked.Request.DesiredAPIVersion)
		response.ConvertedObjects = append(response.ConvertedObjects, converted)
	}
	return &conversionReview{TypeMeta: reviewType, Response: response}, nil
}

// convert returns a Pizza in the desired version.
func convert(given []byte, desired string) (converted object, err error) {
	is := metav1.TypeMeta{}
	if err := json.Unmarshal(given, &is); err != nil {
		return nil, err
	}
	alpha, beta := v1alpha1.SchemeGroupVersion.String(), v1beta1.SchemeGroupVersion.String()
	switch {
	case is.Kind != "Pizza":
		return nil, fmt.Errorf("the kind is %.100q, want Pizza", is.Kind)
	case is.APIVersion == alpha && desired == beta:
		in := &v1alpha1.Pizza{}
		err = json.Unmarshal(given, in)
		converted = conversion.PizzaToV1beta1(in)
	case is.APIVersion == beta && desired == alpha:
		in := &v1beta1.Pizza{}
		err = json.Unmarshal(given, in)
		converted = conversion.PizzaToV1alpha1(in)
	default:
		return nil, fmt.Errorf("cannot convert %.100q to %.100q", is.APIVersion, desired)
	}
	if err != nil {
		return nil, err
	}
	converted.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(desired, is.Kind))
	return converted, nil
}
