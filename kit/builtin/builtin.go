// Package builtin has the resources of Kubernetes for an API server in memory: a program under test
// reads and writes objects of any of them. It is separate from package testkit because a binary that
// looks at methods by reflection keeps all of them: the core's tests and the browser tab do without.
//
// Limitations:
//
//   - The versions are the stable ones, v1 and v2. Two versions of a kind are two resources.
//   - The objects are stored as they are sent: the real server also sets defaults and validates.
package builtin

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/byhand/kit/testkit"
)

// stable are the versions that an API server serves by default.
var stable = regexp.MustCompile(`^v\d+$`)

// Resources returns all resources. client-go's interfaces describe them: a client without a namespace is
// for a cluster-scoped kind, and UpdateStatus and GetScale are subresources.
var Resources = sync.OnceValue(func() (all []testkit.Resource) {
	clientset := reflect.TypeFor[kubernetes.Interface]()
	for i := range clientset.NumMethod() {
		group := clientset.Method(i).Type.Out(0)
		for j := range group.NumMethod() {
			plural, client := group.Method(j).Name, group.Method(j).Type
			if client.NumOut() != 1 || client.Out(0).Kind() != reflect.Interface {
				continue
			}
			get, ok := client.Out(0).MethodByName("Get")
			if _, watched := client.Out(0).MethodByName("Watch"); !ok || !watched {
				continue
			}
			object, ok := reflect.New(get.Type.Out(0).Elem()).Interface().(runtime.Object)
			if !ok {
				continue
			}
			kinds, _, err := scheme.Scheme.ObjectKinds(object)
			if err != nil || !stable.MatchString(kinds[0].Version) {
				continue
			}
			res := testkit.Resource{GroupVersionKind: kinds[0], Plural: strings.ToLower(plural), ClusterScoped: client.NumIn() == 0,
				Blind: !slices.Contains(versioned, kinds[0].Kind), Generation: slices.Contains(generations, kinds[0].Kind)}
			_, res.Status = client.Out(0).MethodByName("UpdateStatus")
			if _, scales := client.Out(0).MethodByName("GetScale"); scales {
				res.Scale = &testkit.Scale{Replicas: ".spec.replicas", StatusReplicas: ".status.replicas", Selector: ".spec.selector"}
			}
			all = append(all, res)
		}
	}
	return all
})

// The interfaces do not show two properties: generations are the kinds with a generation, and versioned
// are the kinds that need a resourceVersion in an update.
var (
	generations = []string{"CronJob", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress", "IngressClass", "Job", "NetworkPolicy", "Pod",
		"PodDisruptionBudget", "ReplicaSet", "ReplicationController", "StatefulSet", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
	versioned = []string{"CSIDriver", "CSINode", "CSIStorageCapacity", "Lease", "MutatingWebhookConfiguration", "PodDisruptionBudget", "RuntimeClass",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration", "VolumeAttachment"}
)
