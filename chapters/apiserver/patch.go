package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// patch answers a PATCH. The patch is applied to the object as it is now, and nothing is
// written meanwhile, so it never conflicts, unless it says what it was made from.
func (s *server) patch(w *answerWriter, r *request) error {
	as, err := negotiate(r)
	if err != nil {
		return err
	}
	isDryRun, err := hasDryRun(r.URL.Query()["dryRun"])
	if err != nil {
		return err
	}
	if isApply(r) {
		return s.apply(w, r, as, isDryRun)
	}
	// kubectl sends a strategic merge patch to what it knows from Kubernetes itself. For
	// others it asks, or tries and takes 415 for an answer.
	if kind := contentType(r); kind != mergeType && kind != jsonPatchType {
		return unsupported(r, mergeType+", "+jsonPatchType+" or "+applyType)
	}
	body, err := readBody(r)
	if err != nil {
		return err
	}
	if err := complainOfKeys(w, r, body); err != nil {
		return err
	}
	var patched object
	_, err = s.storage.write(r.key(), isDryRun, func(current object, all map[key]object) (object, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(r.groupResource(), r.name)
		}
		// The client's patch is for what the client sees: its version.
		document, err := json.Marshal(fromHub(current, r.version))
		if err != nil {
			return nil, err
		}
		if document, err = patchDocument(contentType(r), document, body); err != nil {
			return nil, err
		}
		sent, err := decode(w, r, document)
		if err != nil {
			return nil, err
		}
		patched, err = s.replaced(r, toHub(sent), current, all)
		return unlessGone(patched), err
	})
	if err != nil {
		return err
	}
	return w.send(http.StatusOK, r.represent(as, patched))
}

// complainOfKeys tells of a key that comes twice in a patch. The result has it once.
func complainOfKeys(w *answerWriter, r *request, body []byte) error {
	var patch any
	twice, err := kjson.UnmarshalStrict(body, &patch)
	if err != nil {
		return badRequest("the body is no JSON: %v", err)
	}
	if len(twice) == 0 {
		return nil
	}
	return complain(w, r, runtime.NewStrictDecodingError(twice))
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
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return patched, nil
}

func isApply(r *request) bool { return r.verb == "patch" && contentType(r) == applyType }
