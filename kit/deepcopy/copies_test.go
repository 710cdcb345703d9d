package deepcopy_test

import (
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/byhand/kit/deepcopy"
)

// Tree has the types that the tests must support: any JSON, itself, a map of lists and a pointer to a list.
type Tree struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Values *runtime.RawExtension `json:"values,omitempty"`
	Port   *intstr.IntOrString   `json:"port,omitempty"`
	Root   Node                  `json:"root"`
	Hosts  map[string][]string   `json:"hosts,omitempty"`
	Ports  *[]string             `json:"ports,omitempty"`
}

type Node struct {
	Name     string `json:"name"`
	Children []Node `json:"children,omitempty"`
}

func (n *Node) DeepCopyInto(out *Node) {
	*out = *n
	if n.Children != nil {
		out.Children = make([]Node, len(n.Children))
		for i := range n.Children {
			n.Children[i].DeepCopyInto(&out.Children[i])
		}
	}
}

func (t *Tree) DeepCopyInto(out *Tree) {
	*out = *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Values = t.Values.DeepCopy()
	if t.Port != nil {
		out.Port = new(*t.Port)
	}
	t.Root.DeepCopyInto(&out.Root)
	out.Hosts = maps.Clone(t.Hosts)
	for host, names := range t.Hosts {
		out.Hosts[host] = slices.Clone(names)
	}
	if t.Ports != nil {
		out.Ports = new(slices.Clone(*t.Ports))
	}
}

func (t *Tree) DeepCopyObject() runtime.Object {
	if t == nil {
		return nil
	}
	out := new(Tree)
	t.DeepCopyInto(out)
	return out
}

// A correct copy passes. TestMistakes of tools/new covers wrong ones.
func TestTypes(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "test.example.com", Version: "v1", Kind: "Tree"}, &Tree{})
	deepcopy.EqualsOriginal(t, scheme)
	deepcopy.SharesNoMemory(t, scheme)
	deepcopy.KeepsNilAndEmpty(t, scheme)
	deepcopy.OfNil(t, scheme)
	deepcopy.RoundTrip(t, scheme)
}
