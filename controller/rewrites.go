package controller

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
)

// Rewrites. Without this file, two controllers that want different values for one field fight forever, as
// fast as the API server allows: each write succeeds, so no key backs off (TestNoHotLoop). Rewrites counts
// consecutive writes of the same content for one generation, each within a minute of the previous one. From the
// fourth write on, Err returns an error until no such write comes for a minute. So the key backs off, and the
// condition can report why.

// ErrReverted reports that a write does not last.
var ErrReverted = errors.New("another client or an admission webhook changes what the controller writes")

// Rewrites is safe for concurrent use with different objects.
type Rewrites struct{ recent *utilcache.LRUExpireCache }

// NewRewrites returns an empty Rewrites. It remembers the last 10,000 parts that Record has received.
func NewRewrites() *Rewrites { return &Rewrites{utilcache.NewLRUExpireCache(10_000)} }

type target struct {
	uid  types.UID
	part string
}

type repeats struct {
	generation int64
	content    any
	times      int
}

// Record counts a successful write for object. part is the written part, such as "status". Different
// content restarts the count. content must be comparable; pass nil to count every write of the part.
func (r *Rewrites) Record(object metav1.Object, part string, content any) {
	t := target{object.GetUID(), part}
	known, _ := r.recent.Get(t)
	last, _ := known.(repeats)
	if last.generation != object.GetGeneration() || last.content != content {
		last = repeats{generation: object.GetGeneration(), content: content}
	}
	last.times++
	r.recent.Add(t, last, time.Minute)
}

// Err returns ErrReverted while writes of this part do not last, nil otherwise.
func (r *Rewrites) Err(object metav1.Object, part string) error {
	known, _ := r.recent.Get(target{object.GetUID(), part})
	if last, _ := known.(repeats); last.times > 3 && last.generation == object.GetGeneration() {
		return ErrReverted
	}
	return nil
}
