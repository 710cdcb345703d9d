package trace

import (
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/story"
)

// The longest texts that a step holds, in bytes.
const (
	objectLimit = 64 << 10
	bodyLimit   = 16 << 10
	wordsLimit  = 2 << 10
)

// decoder knows the types that may be shown, in JSON and in protobuf, which is what
// client-go speaks for Deployments.
var decoder = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	utilruntime.Must(examplesv1alpha1.AddToScheme(scheme))
	utilruntime.Must(samplecontrollerv1alpha1.AddToScheme(scheme))
	utilruntime.Must(appsv1.AddToScheme(scheme))
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).UniversalDeserializer()
}()

// decode returns the object in the body of a request or an answer, and nil if it
// is none that may be shown.
func decode(body []byte) runtime.Object {
	object, _, err := decoder.Decode(body, nil, nil)
	if err != nil {
		return nil
	}
	return object
}

// render returns an object as JSON without what nobody may or wants to see:
// managedFields, the copy of the object that kubectl apply leaves in an annotation,
// the values of environment variables. It returns nil for everything that is not to
// be shown. The object stays as it is.
func render(object any, limit int) json.RawMessage {
	switch o := object.(type) {
	case *samplecontrollerv1alpha1.Foo:
		shown := *o
		clean(&shown.ObjectMeta)
		shown.SetGroupVersionKind(samplecontrollerv1alpha1.SchemeGroupVersion.WithKind("Foo"))
		return marshal(&shown, limit)
	case *examplesv1alpha1.Project:
		shown := *o
		clean(&shown.ObjectMeta)
		shown.SetGroupVersionKind(examplesv1alpha1.SchemeGroupVersion.WithKind("Project"))
		return marshal(&shown, limit)
	case *appsv1.Deployment:
		if fooOf(o) == "" {
			return nil
		}
		shown := *withoutValues(o)
		clean(&shown.ObjectMeta)
		shown.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
		return marshal(&shown, limit)
	case *metav1.Status, *metav1.DeleteOptions:
		return marshal(o, limit)
	default:
		return nil
	}
}

// marshal returns nil for an object that is too long.
func marshal(object any, limit int) json.RawMessage {
	text, err := json.Marshal(object)
	if err != nil || len(text) > limit {
		return nil
	}
	return text
}

// bodyText returns an object as the text of a Request, cut off where it is long.
func bodyText(object runtime.Object) string {
	if object == nil {
		return ""
	}
	return cut(string(render(object, 16<<20)), bodyLimit)
}

// cut shortens a text to a number of bytes and says how many there were.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:limit], len(text))
}

// clean works on a copy whose maps are still the original's.
func clean(object *metav1.ObjectMeta) {
	object.ManagedFields = nil
	if _, ok := object.Annotations[corev1.LastAppliedConfigAnnotation]; ok {
		object.Annotations = maps.Clone(object.Annotations)
		delete(object.Annotations, corev1.LastAppliedConfigAnnotation)
	}
}

// withoutValues returns a Deployment without the values of its environment
// variables: people put passwords there.
func withoutValues(deployment *appsv1.Deployment) *appsv1.Deployment {
	pod := &deployment.Spec.Template.Spec
	env := func(pod *corev1.PodSpec) (all []*corev1.EnvVar) {
		for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
			for i := range containers {
				for j := range containers[i].Env {
					all = append(all, &containers[i].Env[j])
				}
			}
		}
		return all
	}
	if len(env(pod)) == 0 {
		return deployment
	}
	copied := deployment.DeepCopy()
	for _, variable := range env(&copied.Spec.Template.Spec) {
		if variable.Value != "" {
			variable.Value = "(not shown)"
		}
	}
	return copied
}

// fooOf returns the key of the Foo that an object belongs to, or "".
func fooOf(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	if _, ok := object.(*samplecontrollerv1alpha1.Foo); ok {
		return accessor.GetNamespace() + "/" + accessor.GetName()
	}
	return fooOfOwner(accessor.GetNamespace(), metav1.GetControllerOfNoCopy(accessor))
}

func fooOfOwner(namespace string, owner *metav1.OwnerReference) string {
	if owner == nil || owner.Kind != "Foo" {
		return ""
	}
	if gv, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || gv.Group != samplecontrollerv1alpha1.GroupName {
		return ""
	}
	return namespace + "/" + owner.Name
}

// describe says what an object is like.
func describe(object any) string {
	switch o := object.(type) {
	case *samplecontrollerv1alpha1.Foo:
		return story.DescribeFoo(o)
	case *examplesv1alpha1.Project:
		return story.DescribeProject(o)
	case *appsv1.Deployment:
		if description := story.DescribeDeployment(o); description != "" {
			return description
		}
		return "no Foo controls it"
	default:
		return ""
	}
}
