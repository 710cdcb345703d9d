//go:build integration

package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// logTo returns a logger of the test.
func logTo(t *testing.T) *log.Logger { return log.New(t.Output(), "", 0) }

// What kubectl does in one version is seen in both, whichever is stored: get, apply, edit,
// watch and server-side apply.
func TestEveryPair(t *testing.T) {
	c := newCluster(t)
	p := c.start()
	for _, storage := range []string{"v1alpha1", "v1beta1"} {
		c.store(storage)
		for write, other := range map[string]string{"v1alpha1": "v1beta1", "v1beta1": "v1alpha1"} {
			t.Run("stored as "+storage+", written in "+write, func(t *testing.T) {
				on, of := *c, *c.Cluster
				of.T, on.Cluster = t, &of
				on.pair(storage+"-"+write, storage, write, other)
			})
		}
	}
	c.store("v1alpha1")
	if err := c.requests.migrate(t.Context(), logTo(t)); err != nil {
		t.Error(err)
	}
	c.stop(p)
}

// pair writes a Pizza in one version with each of kubectl's commands, and reads it in both.
func (c *cluster) pair(name, storage, write, other string) {
	c.Helper()
	c.sends(pizza(write, name, "salami", "tomato", "tomato"), "apply", "-f-")
	c.reads("apply", name, "salami", "tomato", "tomato")
	if err := c.storedAs(c.Namespace+"/"+name, storage); err != nil {
		c.Error(err)
	}

	same, another := c.watch(write, name), c.watch(other, name)
	c.sends("", "edit", "pizzas."+write+"."+group, name)
	c.reads("edit", name, "salami", "basil", "basil")
	same(spec(write, "salami", "basil", "basil"))
	another(spec(other, "salami", "basil", "basil"))

	// Applied by the server: the list of v1alpha1 is one value, and the second manager
	// takes it. In v1beta1 it adds its own topping.
	name += "-ssa"
	c.sends(pizza(write, name, "salami", "tomato"), "apply", "-f-", "--server-side", "--field-manager=cook")
	c.sends(pizza(write, name, "onion"), "apply", "-f-", "--server-side", "--field-manager=guest", "--force-conflicts")
	want := []string{"onion"}
	if write == "v1beta1" {
		want = []string{"salami", "tomato", "onion"}
	}
	c.reads("server-side apply", name, want...)

	// A client of the other version that changes something else loses nothing.
	c.sends("", "label", "pizzas."+other+"."+group, name, "seen=yes")
	c.reads("label", name, want...)
}

// reads waits until a Pizza has these toppings in both versions.
func (c *cluster) reads(what, name string, toppings ...string) {
	c.Helper()
	want := spec("v1alpha1", toppings...) + " " + spec("v1beta1", toppings...)
	c.Eventually(what, func() error {
		if got := c.Kubectl("get", alphaPizzas+"/"+name, betaPizzas+"/"+name, "-o", "jsonpath={.items[*].spec.toppings}"); got != want {
			return fmt.Errorf("%s, want %s", got, want)
		}
		return nil
	})
}

// kubectl runs it with stdin, and with an editor that makes basil of tomato.
func (c *cluster) kubectl(stdin string, args ...string) (string, error) {
	run := exec.Command("kubectl", append([]string{"--namespace", c.Namespace}, args...)...)
	run.Env = append(os.Environ(), "KUBE_EDITOR=sed -i s/tomato$/basil/")
	run.Stdin = strings.NewReader(stdin)
	output, err := run.CombinedOutput()
	return string(output), err
}

// sends is kubectl that must succeed.
func (c *cluster) sends(stdin string, args ...string) {
	c.Helper()
	if output, err := c.kubectl(stdin, args...); err != nil {
		c.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// watch begins a watch of a Pizza. The function that it returns waits until the watch has
// shown these toppings.
func (c *cluster) watch(version, name string) func(toppings string) {
	c.Helper()
	watch := c.Watch("get", "pizzas."+version+"."+group, name, "--watch", "-o", `jsonpath={.spec.toppings}{"\n"}`)
	watch.WaitFor("salami") // It has begun.
	return watch.WaitFor
}

// Two managers of one Pizza: in v1alpha1 the list has one owner, and in v1beta1 each
// topping.
func TestServerSideApply(t *testing.T) {
	c := newCluster(t)
	p := c.start()
	for _, test := range []struct {
		first, second string
		conflict      bool
	}{
		{"v1beta1", "v1beta1", false},
		{"v1alpha1", "v1alpha1", true},
		{"v1alpha1", "v1beta1", true},
	} {
		name := test.first + "-" + test.second
		c.sends(pizza(test.first, name, "salami"), "apply", "-f-", "--server-side", "--field-manager=cook")
		output, err := c.kubectl(pizza(test.second, name, "onion"), "apply", "-f-", "--server-side", "--field-manager=guest")
		if conflict := err != nil && strings.Contains(output, "conflict"); conflict != test.conflict || (err != nil) != test.conflict {
			t.Errorf("%s: conflict %t, want %t: %v\n%s", name, conflict, test.conflict, err, output)
		}
	}
	c.stop(p)
}

// What is too much in one version is too much in the other.
func TestBounds(t *testing.T) {
	c := newCluster(t)
	p := c.start()
	full := make([]string, 20)
	for i := range full {
		full[i] = "salami"
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		c.Apply(pizza(version, "full-"+version, full...))
		output, err := c.kubectl(pizza(version, "more-"+version, append(full, "tomato")...), "apply", "-f-")
		if err == nil || !strings.Contains(output, "20") {
			t.Errorf("21 portions in %s: %v, %s", version, err, output)
		}
	}
	c.stop(p)
}

// A mistake gets one line and exit code 1.
func TestMistakesOfUse(t *testing.T) {
	chaptertest.Mistakes(t, map[string][]string{"cannot read the kubeconfig": {"--kubeconfig", "/nowhere/config"}})
}

// pizza is YAML of a Pizza, in which equal toppings stand side by side.
func pizza(version, name string, toppings ...string) string {
	return fmt.Sprintf("apiVersion: %s/%s\nkind: Pizza\nmetadata: {name: %s}\nspec: {toppings: %s}\n", group, version, name, spec(version, toppings...))
}

// spec is how a version writes these toppings, as JSON.
func spec(version string, toppings ...string) string {
	if version == "v1alpha1" {
		return `["` + strings.Join(toppings, `","`) + `"]`
	}
	var items []string
	for len(toppings) > 0 {
		quantity := 1
		for quantity < len(toppings) && toppings[quantity] == toppings[0] {
			quantity++
		}
		items = append(items, fmt.Sprintf(`{"name":"%s","quantity":%d}`, toppings[0], quantity))
		toppings = toppings[quantity:]
	}
	return "[" + strings.Join(items, ",") + "]"
}
