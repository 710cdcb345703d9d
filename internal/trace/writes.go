package trace

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// rememberedWrites is how many own writes are remembered. The echo of one is back
// within milliseconds.
const rememberedWrites = 16 << 10

// writes remembers what this process wrote, so that the event of it is known as an
// echo. It is used while steps are told, in their order: what it says is what was so
// when the step was recorded.
type writes struct {
	// answered holds, by object and by the version or UID that it had then, the
	// number of the step of the answer. names is its keys in the order in which they
	// came, a circle.
	answered map[string]int64
	names    []string
	next     int
	// underway holds what was sent and is not answered yet, by object.
	underway map[string]write
}

// write is a request that is under way.
type write struct {
	seq    int64
	sent   runtime.Object
	status bool
}

func versionName(kind, key, version string) string { return kind + " " + key + " version " + version }
func uidName(kind, key, uid string) string         { return kind + " " + key + " uid " + uid }

// begin remembers a write before it is sent.
func (w *writes) begin(kind, key string, begun write) {
	if w.underway == nil {
		w.underway = map[string]write{}
	}
	w.underway[kind+" "+key] = begun
}

// end remembers the answer to a write, under each of these names.
func (w *writes) end(kind, key string, seq int64, names ...string) {
	delete(w.underway, kind+" "+key)
	if w.answered == nil {
		w.answered = map[string]int64{}
	}
	for _, name := range names {
		if len(w.names) < rememberedWrites {
			w.names = append(w.names, name)
		} else {
			delete(w.answered, w.names[w.next])
			w.names[w.next] = name
			w.next = (w.next + 1) % rememberedWrites
		}
		w.answered[name] = seq
	}
}

// of returns the number of the answer that returned this version, or 0.
func (w *writes) of(name string) int64 {
	return w.answered[name]
}

// causeOf returns the number of the step that wrote an object as it is now, or 0 if
// somebody else did. before is nil for one that is new.
func (w *writes) causeOf(kind, key string, before, after any) int64 {
	now, err := meta.Accessor(after)
	if err != nil {
		return 0
	}
	if seq := w.of(versionName(kind, key, now.GetResourceVersion())); seq != 0 {
		return seq
	}
	begun, ok := w.underway[kind+" "+key]
	if ok && begun.made(before, after) {
		return begun.seq
	}
	return 0
}

// made reports whether a write that is under way can be what turned before into
// after.
func (w write) made(before, after any) bool {
	sent, err := meta.Accessor(w.sent)
	if err != nil {
		return false
	}
	if before == nil {
		ours, theirs := metav1.GetControllerOfNoCopy(sent), controllerOf(after)
		return sent.GetResourceVersion() == "" && ours != nil && theirs != nil && ours.UID == theirs.UID
	}
	was, err := meta.Accessor(before)
	if err != nil || was.GetResourceVersion() != sent.GetResourceVersion() {
		return false
	}
	switch after := after.(type) {
	case *samplecontrollerv1alpha1.Foo:
		foo, ok := w.sent.(*samplecontrollerv1alpha1.Foo)
		return ok && w.status && equality.Semantic.DeepEqual(foo.Status, after.Status)
	case *appsv1.Deployment:
		deployment, ok := w.sent.(*appsv1.Deployment)
		return ok && !w.status && equality.Semantic.DeepEqual(deployment.Spec, after.Spec)
	default:
		return false
	}
}

func controllerOf(object any) *metav1.OwnerReference {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil
	}
	return metav1.GetControllerOfNoCopy(accessor)
}

// forget undoes an end.
func (w *writes) forget(name string) {
	delete(w.answered, name)
}
