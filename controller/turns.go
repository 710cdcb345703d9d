package controller

import (
	"container/list"

	"k8s.io/client-go/tools/cache"
)

// Turns. Without this file a namespace with a thousand keys goes before all others
// (TestNamespacesTakeTurns):
//
//	0.0 s  In one namespace a webhook does not answer. A script creates 1,000 Foos there, and each
//	       write of theirs takes 10 s.
//	0.1 s  A person creates a Foo elsewhere. Its key is behind all of them.
//	10 min A worker takes it.
//
// So the namespaces take turns, and in each the first comes first: the person's Foo waits for the
// next worker that is free.

// turns are keys that wait. It implements workqueue.Queue, whose methods are called under the queue's
// lock.
type turns struct {
	lines map[string]*list.List              // the keys that wait, by namespace
	order []string                           // the namespaces in lines, that whose turn is next first
	where map[cache.ObjectName]*list.Element // in its line
}

func newTurns() *turns {
	return &turns{lines: map[string]*list.List{}, where: map[cache.ObjectName]*list.Element{}}
}

// Push is called for a key that does not wait.
func (t *turns) Push(key cache.ObjectName) {
	if t.lines[key.Namespace] == nil {
		t.lines[key.Namespace] = list.New()
		t.order = append(t.order, key.Namespace)
	}
	t.where[key] = t.lines[key.Namespace].PushBack(key)
}

// Touch is called for a key that waits and is added again.
func (t *turns) Touch(cache.ObjectName) {}

// Len returns how many keys wait.
func (t *turns) Len() int { return len(t.where) }

// Pop takes a key. It is called only if Len is not 0.
func (t *turns) Pop() cache.ObjectName {
	for t.lines[t.order[0]].Len() == 0 { // Its keys are taken or removed.
		delete(t.lines, t.order[0])
		t.order = t.order[1:]
	}
	namespace := t.order[0]
	t.order = append(t.order[1:], namespace)
	key := t.lines[namespace].Front().Value.(cache.ObjectName)
	t.remove(key)
	return key
}

// remove takes a key if it waits, and reports whether it did.
func (t *turns) remove(key cache.ObjectName) bool {
	element, waits := t.where[key]
	if !waits {
		return false
	}
	t.lines[key.Namespace].Remove(element)
	if delete(t.where, key); len(t.where) == 0 {
		*t = *newTurns() // A map does not shrink: give back the memory of a long initial list.
	}
	return true
}
