package controller

import "k8s.io/client-go/tools/cache"

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
	lines map[string][]cache.ObjectName // by namespace
	order []string                      // the namespaces in lines, that whose turn is next first
	keys  int
}

func newTurns() *turns { return &turns{lines: map[string][]cache.ObjectName{}} }

// Push is called for a key that does not wait.
func (t *turns) Push(key cache.ObjectName) {
	if t.keys++; t.lines[key.Namespace] == nil {
		t.order = append(t.order, key.Namespace)
	}
	t.lines[key.Namespace] = append(t.lines[key.Namespace], key)
}

// Touch is called for a key that waits and is added again.
func (t *turns) Touch(cache.ObjectName) {}

// Len returns how many keys wait.
func (t *turns) Len() int { return t.keys }

// Pop takes a key. It is called only if Len is not 0.
func (t *turns) Pop() cache.ObjectName {
	namespace := t.order[0]
	line := t.lines[namespace]
	t.order, t.keys = t.order[1:], t.keys-1
	if t.lines[namespace] = line[1:]; len(line) > 1 {
		t.order = append(t.order, namespace)
	} else {
		delete(t.lines, namespace)
	}
	return line[0]
}
