package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Team asks for a Foo for each of its members, once its Secret exists.
type Team struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TeamSpec   `json:"spec"`
	Status TeamStatus `json:"status"`
}

// TeamSpec is the desired state.
type TeamSpec struct {
	// Members get one Foo each, named TEAM-MEMBER.
	Members []string `json:"members"`
	// SecretName is a Secret in the Team's namespace, of type secretType, with a token.
	SecretName string `json:"secretName"`
}

// TeamStatus rolls up the state of the Team's parts.
type TeamStatus struct {
	// ReadyFoos is the number of members whose Foo is ready.
	ReadyFoos int32 `json:"readyFoos"`
	// SecretVersion is the resourceVersion of the Secret that was read, if it has a token. A short
	// token could be guessed from its hash.
	SecretVersion string `json:"secretVersion,omitempty"`
	// Conditions has one entry, Ready.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// TeamList is the response to a list request.
type TeamList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Team `json:"items"`
}

// resource is the plural, as in URLs. secretType selects the Secrets.
const resource, secretType = "teams", "twokinds.examples-gzh.com/token"

var groupVersion = schema.GroupVersion{Group: "twokinds.examples-gzh.com", Version: "v1alpha1"}

// kind is for owner references: a client clears apiVersion and kind of decoded objects.
var kind = groupVersion.WithKind("Team")

// scheme is used only by this program.
var scheme = runtime.NewScheme()

func init() {
	scheme.AddKnownTypes(groupVersion, &Team{}, &TeamList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}

// DeepCopyObject makes *Team a runtime.Object. The copy shares no memory with t.
func (t *Team) DeepCopyObject() runtime.Object {
	out := *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Members = slices.Clone(t.Spec.Members)
	out.Status.Conditions = slices.Clone(t.Status.Conditions)
	return &out
}

// DeepCopyObject makes *TeamList a runtime.Object.
func (l *TeamList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = slices.Clone(l.Items)
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Team)
	}
	return &out
}
