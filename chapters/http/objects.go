package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
)

// fooAPI is the path of everything that the CRD of Foos adds to the API server.
const fooAPI = "/apis/samplecontroller.k8s.io/v1alpha1"

// A Foo as a Go type: only the fields that this program reads or writes. What else is
// in the JSON is lost when it is decoded. So an object that was decoded may be sent back
// only where the server takes a part of it and keeps the rest, as it does with a status.

// Foo asks for one Deployment in its own namespace.
type Foo struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   Metadata  `json:"metadata"`
	Spec       FooSpec   `json:"spec"`
	Status     FooStatus `json:"status"`
}

// FooSpec is what people ask for. Without replicas, the server decides.
type FooSpec struct {
	DeploymentName string `json:"deploymentName"`
	Replicas       *int32 `json:"replicas,omitempty"`
}

// FooStatus says for which generation of the Foo there is a Deployment. 0 is none.
type FooStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Metadata is what objects of every kind have.
type Metadata struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// UID is the server's, and never given twice: not even to an object of the same name.
	UID string `json:"uid,omitempty"`
	// ResourceVersion changes with every write, Generation with every change of the spec.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Generation      int64  `json:"generation,omitempty"`
	// DeletionTimestamp is set while something must happen before the object goes.
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
}

// object is what is sent and never read: JSON, without a Go type.
type object = map[string]any

// newDeployment returns the Deployment that a Foo asks for, Pods that are alike: the same that the core
// makes (controller/foo/deployment.go).
func newDeployment(foo Foo) object {
	// By the UID, since a label holds 63 characters and a name may have 253.
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
			"replicas": foo.Spec.Replicas, // null is as good as none
			"selector": object{"matchLabels": labels},
			"template": object{
				"metadata": object{"labels": labels},
				"spec":     object{"containers": []object{{"name": "nginx", "image": "nginx:1.29"}}},
			},
		},
	}
}

// key names a Foo in the store and in the queue.
func (f Foo) key() string { return f.Metadata.Namespace + "/" + f.Metadata.Name }

// check returns an error unless it has a name and a namespace. They are parts of paths.
func (f Foo) check() error {
	if !regexp.MustCompile(`^[a-z0-9][-a-z0-9]*/[a-z0-9][-.a-z0-9]*$`).MatchString(f.key()) {
		return fmt.Errorf("an object is no Foo: its name is %q", f.key())
	}
	return nil
}

// refusal is an answer that is not 2xx. The server says why in an object of the kind
// Status, which has these two fields among others.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Message) }

// explain adds to an error what to do.
func explain(err error) error {
	advice := "start it again (README.md says why the program does not retry)"
	if network := (*url.Error)(nil); errors.As(err, &network) {
		advice = "is the cluster running, and `kubectl proxy` beside it? (`make chapter CHAPTER=http` starts both)"
	}
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		switch refused.Code {
		case http.StatusUnauthorized:
			advice = "--token may have expired, or belong to another cluster"
		case http.StatusForbidden:
			advice = "chapters/http/config/rbac lists the rights that this program needs"
		case http.StatusNotFound:
			advice = "`kubectl apply -f config/crd` installs the CRD of Foos"
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, advice)
	}
	return err
}
