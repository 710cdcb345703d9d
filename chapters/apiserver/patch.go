package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

const (
	mergeType     = string(types.MergePatchType)
	jsonPatchType = string(types.JSONPatchType)
	applyType     = string(types.ApplyYAMLPatchType)

	// maxOperations is how many a JSON Patch may have.
	maxOperations = 10000
)

func init() {
	// A JSON Patch that copies and copies would make gigabytes of a few bytes.
	jsonpatch.AccumulatedCopySizeLimit = 10 * maxBody
}

// patch answers a PATCH. The patch is applied to the object as it is now, and nothing is
// written meanwhile, so it never conflicts, unless it says what it was made from.
func (s *server) patch(w *answerWriter, r *request) error {
	options, err := writeOptions(r)
	if err != nil {
		return err
	}
	kind := contentType(r)
	if kind == applyType {
		return s.apply(w, r, options)
	}
	// kubectl sends a strategic merge patch to what it knows from Kubernetes itself. For
	// others it asks, or tries and takes 415 for an answer.
	if kind != mergeType && kind != jsonPatchType {
		return unsupported(r, mergeType+", "+jsonPatchType+" or "+applyType)
	}
	body, err := readBody(r)
	if err != nil {
		return err
	}
	// Tell of a key that comes twice in a patch. The result has it once.
	twice, err := kjson.UnmarshalStrict(body, new(any))
	if err == nil && len(twice) > 0 {
		err = runtime.NewStrictDecodingError(twice)
	}
	if err := complain(w, err, options.FieldValidation); err != nil {
		return err
	}
	return s.put(w, r, options, func(current object) (object, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(r.groupResource(), r.name)
		}
		// The client's patch is for what the client sees: its version.
		document, err := json.Marshal(to(r.version, current))
		if err != nil {
			return nil, err
		}
		if document, err = patchDocument(kind, document, body); err != nil {
			return nil, err
		}
		sent, err := decode(w, r, document, options.FieldValidation)
		if err != nil {
			return nil, err
		}
		return to(hub, sent), nil
	})
}

func patchDocument(kind string, document, body []byte) ([]byte, error) {
	if kind == mergeType {
		patched, err := jsonpatch.MergePatch(document, body)
		if err != nil {
			return nil, badRequest("%v", err)
		}
		return patched, nil
	}
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	if len(operations) > maxOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("a JSON Patch may have %d operations, this one has %d", maxOperations, len(operations)))
	}
	patched, err := operations.Apply(document)
	if err != nil {
		// A test that fails is among these.
		return nil, refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, err.Error())
	}
	return patched, nil
}

func isApply(r *request) bool { return r.verb == "patch" && contentType(r) == applyType }
