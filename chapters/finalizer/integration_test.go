//go:build integration

package main

import "testing"

// What happens while the program is off: a deletion, a deletion by force, and one with
// another Project of the same name after it. What it finds then is put right, and the
// volumes of a Project that it may not act on stay.
func TestOff(t *testing.T) {
	t.Parallel()
	c, elsewhere := newCluster(t), newCluster(t)
	p := c.program(c.Kubeconfig)
	leaving, orphan, old := c.create("leaving", 2), c.create("orphan", 2), c.create("anew", 2)
	c.has(leaving, 2)
	c.has(orphan, 2)
	c.has(old, 2)
	p.Stop()

	for _, name := range []string{"leaving", "orphan", "anew"} {
		c.delete(name)
	}
	for _, name := range []string{"orphan", "anew"} {
		if err := c.setFinalizers(name); err != nil {
			t.Fatal(err)
		}
	}
	fresh := c.create("anew", 1)
	others := elsewhere.create("others", 1, finalizer)
	if err := c.directory.Create(t.Context(), others, 0); err != nil {
		t.Fatal(err)
	}
	c.has(leaving, 2)
	c.has(orphan, 2)

	p = c.program(c.Kubeconfig)
	c.has(fresh, 1)
	c.goes("leaving", leaving)
	p.Prints(2, "Deleted the volumes of a Project that is gone")
	c.hasNoFolder(orphan)
	c.hasNoFolder(old)
	c.has(others, 1)
}
