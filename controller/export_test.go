package controller

import "time"

// LetTimePass makes everything that the reconciler remembers that much older.
func (r *FooReconciler) LetTimePass(d time.Duration) {
	r.own.mu.Lock()
	defer r.own.mu.Unlock()
	for _, u := range r.own.byKey {
		u.since = u.since.Add(-d)
	}
}
