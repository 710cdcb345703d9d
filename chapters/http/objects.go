package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
)

// fooAPI is the path of the API group and version that the CRD of Foos adds.
const fooAPI = "/apis/samplecontroller.k8s.io/v1alpha1"

// These types have only the fields that this program uses, and decoding drops all others. So
// send a decoded Foo only to the status subresource, where the server keeps everything else.

// Foo asks for one Deployment in its own namespace.
type Foo struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   Metadata  `json:"metadata"`
	Spec       FooSpec   `json:"spec"`
	Status     FooStatus `json:"status"`
}

// FooSpec is the desired state. Without replicas, the server sets the default.
type FooSpec struct {
	DeploymentName string `json:"deploymentName"`
	Replicas       *int32 `json:"replicas,omitempty"`
}

// FooStatus has the Foo's generation when its Deployment was created, or 0.
type FooStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Metadata has the fields that all kinds share.
type Metadata struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// UID is set by the server and never reused, not even for an object of the same name.
	UID string `json:"uid,omitempty"`
	// ResourceVersion changes with every write, Generation with every change of the spec.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Generation      int64  `json:"generation,omitempty"`
	// DeletionTimestamp is set while finalizers delay the deletion.
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
}

// object is JSON without a Go type, for objects that are only sent.
type object = map[string]any

// newDeployment returns the Deployment that a Foo asks for, the same as the core's
// (controller/foo/deployment.go).
func newDeployment(foo Foo) object {
	// Use the UID, since a label holds 63 characters and a name may have 253.
	labels := object{"samplecontroller.k8s.io/foo-uid": foo.Metadata.UID}
	return object{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata": object{
			"name": foo.Spec.DeploymentName,
			// The garbage collector deletes it after its owner.
			"ownerReferences": []object{{
				"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "name": foo.Metadata.Name, "uid": foo.Metadata.UID,
				"controller": true, "blockOwnerDeletion": true,
			}},
		},
		"spec": object{
			"replicas": foo.Spec.Replicas, // null is the same as unset
			"selector": object{"matchLabels": labels},
			"template": object{
				"metadata": object{"labels": labels},
				"spec":     object{"containers": []object{{"name": "nginx", "image": "nginx:1.29"}}},
			},
		},
	}
}

func (f Foo) key() string { return f.Metadata.Namespace + "/" + f.Metadata.Name }

// check returns an error unless the name and namespace are valid: they become parts of URLs.
func (f Foo) check() error {
	if !regexp.MustCompile(`^[a-z0-9][-a-z0-9]*/[a-z0-9][-.a-z0-9]*$`).MatchString(f.key()) {
		return fmt.Errorf("an object is not a Foo: its name is %q", f.key())
	}
	return nil
}

// refusal is a response other than 2xx. The server explains it in an object of kind Status;
// these are two of its fields.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Message) }

// explain adds advice to an error.
func explain(err error) error {
	advice := "start it again (README.md explains why the program does not retry)"
	if network := (*url.Error)(nil); errors.As(err, &network) {
		advice = "are the cluster and `kubectl proxy` running? (`make chapter CHAPTER=http` starts both)"
	}
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		switch refused.Code {
		case http.StatusUnauthorized:
			advice = "--token may have expired, or belong to another cluster"
		case http.StatusForbidden:
			advice = "chapters/http/config/rbac lists the permissions that this program needs"
		case http.StatusNotFound:
			advice = "`kubectl apply -f config/crd` installs the CRD of Foos"
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, advice)
	}
	return err
}
