package lab

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// mostEncoded is how long the YAML of one command may be, in base64: 3,000 bytes.
const mostEncoded = 4000

func init() {
	commands["get"] = command{words: []word{oneOf("foo", "deployment"), name}, kubectl: "kubectl get {1} {2} -o yaml", do: get}
	commands["apply"] = command{words: []word{encoded}, kubectl: "kubectl apply -f -", do: apply}
}

// encoded is a text of limited size as one word: a link has it, too.
func encoded(text string) bool {
	_, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(text) <= mostEncoded
}

// get answers with an object as YAML, without the metadata that the server alone writes: a later
// version of the object would refuse it.
func get(p *Playground, args []string) (string, error) {
	answer, err := p.send(http.MethodGet, map[string]string{"foo": foos, "deployment": deployments}[args[0]]+"/"+args[1], "", "")
	if err != nil {
		return "", err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(answer); err != nil {
		return "", err
	}
	for _, field := range []string{"creationTimestamp", "generation", "resourceVersion", "uid"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	text, err := yaml.Marshal(object.Object)
	return string(text), err
}

// apply creates what the YAML describes, or changes it. What it does not name stays as it is.
func apply(p *Playground, args []string) (string, error) {
	text, _ := base64.RawURLEncoding.DecodeString(args[0]) // The word is allowed.
	if strings.Contains("\n"+string(text), "\n---") {
		return "", refusal("One object at a time: no --- here.")
	}
	var object metav1.PartialObjectMetadata
	content, err := yaml.YAMLToJSONStrict(text)
	if err == nil {
		err = json.Unmarshal(content, &object)
	}
	if err != nil {
		return "", refusal("This is neither a Foo nor a Deployment: " + err.Error())
	}
	var collection, kind string
	var typed any
	switch object.GroupVersionKind() {
	case v1alpha1.SchemeGroupVersion.WithKind("Foo"):
		collection, kind, typed = foos, fooName, &v1alpha1.Foo{}
	case appsv1.SchemeGroupVersion.WithKind("Deployment"):
		collection, kind, typed = deployments, "deployment.apps", &appsv1.Deployment{}
	default:
		return "", refusal(fmt.Sprintf("error: no matches for kind %q in version %q", object.Kind, object.APIVersion))
	}
	if !name(object.Name) {
		return "", refusal("metadata.name must have 1 to 40 small letters, digits and dashes.")
	}
	strict := json.NewDecoder(bytes.NewReader(content))
	strict.DisallowUnknownFields()
	if err := strict.Decode(typed); err != nil {
		return "", fmt.Errorf("Error from server (BadRequest): %w", err)
	}
	if d, ok := typed.(*appsv1.Deployment); ok && (d.Spec.Selector != nil || p.api.Get(collection+"/"+d.Name) == nil) {
		selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
		if err != nil || selector.Empty() || !selector.Matches(labels.Set(d.Spec.Template.Labels)) {
			return "", refusal(fmt.Sprintf("The Deployment %q is invalid: spec.selector must select the labels of spec.template", d.Name))
		}
	}
	what := "created"
	if _, err = p.send(http.MethodPost, collection, "", string(content)); apierrors.IsAlreadyExists(err) {
		what = "configured"
		_, err = p.send(http.MethodPatch, collection+"/"+object.Name, types.MergePatchType, string(content))
	}
	return fmt.Sprintf("%s/%s %s", kind, object.Name, what), err
}
