package simulation

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
)

// checkFinalState: each Foo has the one Deployment that its spec asks for, or says
// why it cannot; and no Deployment is left over.
func (s *sequence) checkFinalState() {
	for _, namespace := range s.namespaces {
		foos, deployments := storedIn[v1alpha1.Foo](s, namespace, "foos"), storedIn[appsv1.Deployment](s, namespace, "deployments")
		if err := oracle.Ours(foos, deployments).Err(); err != nil {
			s.breaks("in namespace %s: %v", namespace, err)
		}
	}
}

func storedIn[T any](s *sequence, namespace, resource string) (all []T) {
	for _, path := range s.api.Paths(resource) {
		if strings.HasPrefix(short(path), namespace+"/") {
			all = append(all, *typed[T](s, s.api.Get(path)))
		}
	}
	return all
}

// checkStores: no object that a store holds, or has held, was changed.
func (s *sequence) checkStores() {
	if s.seed%4 > 0 {
		return // It takes long.
	}
	for object, shared := range s.typed {
		same := false
		switch shared := shared.(type) {
		case *v1alpha1.Foo:
			same = equality.Semantic.DeepEqual(shared, decode[v1alpha1.Foo](s, object))
		case *appsv1.Deployment:
			same = equality.Semantic.DeepEqual(shared, decode[appsv1.Deployment](s, object))
		}
		if !same {
			s.breaks("%s/%s v%s was changed in a store", object.GetNamespace(), object.GetName(), object.GetResourceVersion())
		}
	}
}
