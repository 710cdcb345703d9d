//go:build integration

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/internal/testkit"
)

// The program is killed, or its request or the answer is lost, at each write of a Project's
// life: that which adds the finalizer, and that which removes it. The end is always the
// same: the volumes, then nothing.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]testkit.Fault{"killed before": testkit.KillBefore, "killed after": testkit.KillAfter, "answer lost": testkit.LoseAnswer, "refused": testkit.Refuse} {
		for write, what := range map[int]string{1: "add", 2: "remove"} {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				c := newCluster(t)
				proxy, through := c.Proxy()
				proxy.OnWrite(func(n int, _ *http.Request) testkit.Fault {
					if n == write {
						return fault
					}
					return testkit.Pass
				})
				isKilled := fault == testkit.KillBefore || fault == testkit.KillAfter
				p := c.program(through)
				proxy.Kill = p.Kill
				owner := c.create("p", 2)
				if isKilled && write == 1 {
					p.Exit()
					c.has(owner, 0)
					p = c.program(through)
				}
				c.has(owner, 2)
				c.hasFinalizers("p", finalizer)
				c.delete("p")
				if isKilled && write == 2 {
					p.Exit()
					c.has(owner, 0)
					c.program(through)
				}
				c.goes("p", owner)
			})
		}
	}
}

// Finalizers of others stay, before and after ours, and also if one goes in the very moment
// in which ours is removed.
func TestOtherFinalizers(t *testing.T) {
	t.Parallel()
	const other = "other.example.com/x"
	c := newCluster(t)
	proxy, through := c.Proxy()
	c.program(through)

	before := c.create("before", 1, other)
	after := c.create("after", 1)
	c.has(before, 1)
	c.has(after, 1)
	c.hasFinalizers("before", other, finalizer)
	if err := c.setFinalizers("after", finalizer, other); err != nil {
		t.Fatal(err)
	}
	for name, owner := range map[string]types.UID{"before": before, "after": after} {
		c.delete(name)
		c.hasFinalizers(name, other)
		c.hasNoFolder(owner)
		if err := c.setFinalizers(name); err != nil {
			t.Error(err)
		}
	}

	racing := c.create("racing", 1, other)
	c.has(racing, 1)
	c.hasFinalizers("racing", other, finalizer)
	// Now the other one goes when the patch is on its way: ours is in another place then.
	var patches atomic.Int32
	proxy.OnWrite(func(int, *http.Request) testkit.Fault {
		if patches.Add(1) == 1 {
			if err := c.setFinalizers("racing", finalizer); err != nil {
				t.Error(err)
			}
		}
		return testkit.Pass
	})
	c.delete("racing")
	c.goes("racing", racing)
	if n := patches.Load(); n != 2 {
		t.Errorf("%d patches, want one that is refused and one that is not", n)
	}
}

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

// A Project that cannot have its volumes says why, and disturbs nobody.
func TestRefusals(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	outside := t.TempDir()
	linked := c.create("linked", 2)
	link := filepath.Join(string(c.directory), string(linked))
	if err := os.Mkdir(string(c.directory), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	many := c.create("many", 1_000_000_000)
	p := c.program(c.Kubeconfig, "--max-volumes", "3")
	fine := c.create("fine", 3)
	c.has(fine, 3)
	c.tells("many", "TooManyVolumes", "1000000000")
	c.tells("linked", "VolumesFailed", "not a directory")
	c.has(many, 0)
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside there is %v (%v), want nothing", entries, err)
	}

	c.scale("many", 2)
	c.has(many, 2)
	c.tells("many", "VolumesReady", "2 volumes")
	c.delete("linked")
	c.goes("linked", linked)
	if _, err := os.Lstat(link); !os.IsNotExist(err) {
		t.Errorf("the link is still there (%v)", err)
	}
	p.Stop()
}

// A store that becomes read-only: Projects wait for it, also those that are being deleted.
func TestReadOnlyStore(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.program(c.Kubeconfig)
	old := c.create("old", 1)
	c.has(old, 1)
	writable := readOnly(t, string(c.directory))
	fresh := c.create("fresh", 1)
	c.delete("old")
	c.tells("fresh", "VolumesFailed", "")
	c.tells("old", "VolumesFailed", "")
	c.hasFinalizers("old", finalizer)
	writable()
	c.has(fresh, 1)
	c.tells("fresh", "VolumesReady", "1 volumes")
	c.goes("old", old)
}
