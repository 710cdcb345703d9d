package main

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/chapters/restaurant/conversion"
	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// reviewType is the one form of a review that this program knows: the definition asks for
// it, in conversionReviewVersions.
var reviewType = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "ConversionReview"}

// conversionReview is what the API server sends, with a request, and what it wants back,
// with a response. It is refused if apiVersion or kind are missing.
type conversionReview struct {
	metav1.TypeMeta `json:""`

	Request  *conversionRequest  `json:"request,omitempty"`
	Response *conversionResponse `json:"response,omitempty"`
}

// conversionRequest asks for objects in another version.
type conversionRequest struct {
	// UID must come back.
	UID types.UID `json:"uid"`
	// DesiredAPIVersion is a group and a version.
	DesiredAPIVersion string               `json:"desiredAPIVersion"`
	Objects           []stdjson.RawMessage `json:"objects"`
}

// conversionResponse has as many objects as were sent, in the same order. The API server
// compares kind, name, namespace and UID of each. Of the metadata it takes labels and
// annotations, and nothing else.
type conversionResponse struct {
	UID              types.UID        `json:"uid"`
	ConvertedObjects []any            `json:"convertedObjects"`
	Result           conversionResult `json:"result"`
}

// conversionResult says whether it worked. It is part of a metav1.Status.
type conversionResult struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// converter answers reviews.
type converter struct {
	// log has a line for each review.
	log *log.Logger
}

// review answers one review. That an object cannot be converted is an answer, too: with
// another code than 200 the API server would not read the message.
func (c *converter) review(_ context.Context, body []byte) (any, error) {
	asked := conversionReview{}
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, webhook.Invalid("read the review: %w", err)
	}
	if asked.TypeMeta != reviewType || asked.Request == nil {
		return nil, webhook.Invalid("want a %s of %s with a request", reviewType.Kind, reviewType.APIVersion)
	}
	response := &conversionResponse{UID: asked.Request.UID, Result: conversionResult{Status: metav1.StatusSuccess}}
	for i, object := range asked.Request.Objects {
		converted, err := convert(object, asked.Request.DesiredAPIVersion)
		if err != nil {
			// All or nothing: a part of a list is no answer.
			message := fmt.Sprintf("object %d: %v", i, err)
			c.log.Printf("failed     %s", message)
			response.ConvertedObjects = nil
			response.Result = conversionResult{Status: metav1.StatusFailure, Message: message}
			break
		}
		c.log.Printf("converted  Pizza %s to %s", nameOf(object), asked.Request.DesiredAPIVersion)
		response.ConvertedObjects = append(response.ConvertedObjects, converted)
	}
	return &conversionReview{TypeMeta: reviewType, Response: response}, nil
}

// convert returns a Pizza in another version.
func convert(object []byte, desired string) (any, error) {
	given := metav1.TypeMeta{}
	if err := json.Unmarshal(object, &given); err != nil {
		return nil, err
	}
	alpha, beta := v1alpha1.SchemeGroupVersion.String(), v1beta1.SchemeGroupVersion.String()
	want := metav1.TypeMeta{APIVersion: desired, Kind: "Pizza"}
	switch {
	case given.Kind != "Pizza":
		return nil, fmt.Errorf("the kind is %q, want Pizza", given.Kind)
	case given.APIVersion == alpha && desired == beta:
		in := &v1alpha1.Pizza{}
		if err := json.Unmarshal(object, in); err != nil {
			return nil, err
		}
		out := conversion.PizzaToV1beta1(in)
		out.TypeMeta = want
		return out, nil
	case given.APIVersion == beta && desired == alpha:
		in := &v1beta1.Pizza{}
		if err := json.Unmarshal(object, in); err != nil {
			return nil, err
		}
		out := conversion.PizzaToV1alpha1(in)
		out.TypeMeta = want
		return out, nil
	default:
		return nil, fmt.Errorf("cannot convert %q to %q", given.APIVersion, desired)
	}
}

// nameOf is for the log.
func nameOf(object []byte) string {
	named := metav1.PartialObjectMetadata{}
	// What cannot be read has no name.
	_ = json.Unmarshal(object, &named)
	return named.Namespace + "/" + named.Name
}
