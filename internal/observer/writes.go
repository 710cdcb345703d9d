package observer

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// mostRemembered is how many things are remembered. The echo of a write is back within
// milliseconds.
const mostRemembered = 16 << 10

// remembered has the numbers of steps, by name: the newest.
type remembered struct {
	seq   map[string]int64
	names []string // the keys, in the order in which they came; a circle
	next  int
}

func (r *remembered) add(name string, seq int64) {
	if r.seq == nil {
		r.seq = map[string]int64{}
	}
	if len(r.names) < mostRemembered {
		r.names = append(r.names, name)
	} else {
		delete(r.seq, r.names[r.next])
		r.names[r.next] = name
		r.next = (r.next + 1) % mostRemembered
	}
	r.seq[name] = seq
}

// of returns the number, or 0.
func (r *remembered) of(name string) int64 { return r.seq[name] }

// writes remembers what this process wrote, so that the event of it is known as an
// echo. It is used while steps are told, in their order: what it says is what was so
// when the step was recorded.
type writes struct {
	// The steps of the answers, by object and the version or UID that it had then.
	remembered
	// underway holds what was sent and is not answered yet, by object.
	underway map[string]write
}

// write is a request that is under way.
type write struct {
	seq  int64
	sent *unstructured.Unstructured
	// field is what it changes: spec or status.
	field string
}

func versionName(kind, key, version string) string   { return kind + " " + key + " version " + version }
func uidName(kind, key string, uid types.UID) string { return kind + " " + key + " uid " + string(uid) }

// begin remembers a write before it is sent.
func (w *writes) begin(kind, key string, begun write) {
	if w.underway == nil {
		w.underway = map[string]write{}
	}
	w.underway[kind+" "+key] = begun
}

// end remembers the answer to a write, by name; "" is none.
func (w *writes) end(kind, key string, seq int64, name string) {
	delete(w.underway, kind+" "+key)
	if name != "" {
		w.add(name, seq)
	}
}

// causeOf returns the number of the step that wrote an object as it is now, or 0 if
// somebody else did. before is nil for one that is new.
func (w *writes) causeOf(kind, key string, before, after any) int64 {
	if seq := w.of(versionName(kind, key, version(after))); seq != 0 {
		return seq
	}
	if begun, ok := w.underway[kind+" "+key]; ok && begun.made(before, after) {
		return begun.seq
	}
	return 0
}

// made reports whether a write that is under way can be what turned before into
// after.
func (w write) made(before, after any) bool {
	now, err := meta.Accessor(after)
	if err != nil {
		return false
	}
	if before == nil {
		ours, theirs := metav1.GetControllerOfNoCopy(w.sent), metav1.GetControllerOfNoCopy(now)
		return w.sent.GetResourceVersion() == "" && ours != nil && theirs != nil && ours.UID == theirs.UID
	}
	opened := open(after)
	return opened != nil && version(before) == w.sent.GetResourceVersion() &&
		equality.Semantic.DeepEqual(w.sent.Object[w.field], opened.Object[w.field])
}
