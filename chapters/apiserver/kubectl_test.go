//go:build integration

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// Everything that kubectl does with a kind of Kubernetes it does with these.
func testKubectl(c *cluster) {
	for _, step := range []struct {
		want string
		args []string
	}{
		{"pizzas", []string{"api-resources", "--api-group", group}},
		{"unchanged", []string{"apply", "-f", "config/samples"}},
		{"tomato, mozzarella, mozzarella", []string{"get", "pizza"}},
		{"tomato, mozzarella, mozzarella", []string{"get", "pz", "-A"}},
		{"quantity: 2", []string{"get", "pizza", "margherita", "-o", "yaml"}},
		{"- mozzarella", []string{"get", "pizzas.v1alpha1." + group, "margherita", "-o", "yaml"}},
		{`"type":"ADDED"`, []string{"get", "--raw", beta + "toppings?watch=true&timeoutSeconds=1"}},
		{"Quantity is how many portions", []string{"explain", "pizza.spec.toppings.quantity"}},
		{"OwnerReference", []string{"explain", "topping.metadata"}},
		{"created", []string{"create", "-f", "testdata/funghi.yaml"}},
		{"serverside-applied", []string{"apply", "--server-side", "-f", "testdata/marinara.yaml"}},
		{"serverside-applied", []string{"apply", "--server-side", "-f", "testdata/marinara.yaml"}},
		{"patched", []string{"patch", "pizza", "marinara", "--type=merge", "-p", `{"metadata":{"labels":{"fresh":"yes"}}}`}},
		{"patched", []string{"patch", "pizza", "marinara", "--type=json", "-p", `[{"op":"add","path":"/metadata/labels/hot","value":"yes"}]`}},
		{"marinara", []string{"get", "pizza", "-l", "fresh=yes,hot"}},
		{"labeled", []string{"label", "pizza", "marinara", "fresh-"}},
		{"annotated", []string{"annotate", "pizza", "marinara", "note=well"}},
		{"condition met", []string{"wait", "pizza/marinara", "--for=jsonpath={.spec.toppings[0].name}=tomato", "--timeout=10s"}},
		{"server dry run", []string{"apply", "--dry-run=server", "-f", "testdata/funghi.yaml"}},
		{`"cents":250`, []string{"get", "--raw", beta + "namespaces/" + c.Namespace + "/pizzas/margherita/price"}},
		{"deleted", []string{"delete", "pizza", "funghi", "--timeout=20s"}},
		{"deleted", []string{"delete", "pizza", "--all", "--timeout=20s"}},
	} {
		if step.args[0] == "explain" {
			// The API server learns of new documents within a minute.
			c.Eventually("explain", func() error {
				_, err := c.RESTClient("openapi/v3/apis/" + hub.String())
				return err
			})
		}
		c.shows(step.want, step.args...)
	}
}

// RESTClient reads a path of the API server.
func (c *cluster) RESTClient(path string) ([]byte, error) {
	return c.Kube.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(c.Context())
}

// What this server refuses, kubectl says.
func testRefused(c *cluster) {
	for _, step := range []struct {
		want string
		args []string
	}{
		{"it is in use", []string{"delete", "topping", "tomato"}},
		{`unknown field "spec.size"`, []string{"create", "-f", "testdata/unknown-field.yaml"}},
		{"NotFound", []string{"get", "pizza", "none"}},
	} {
		if got := c.KubectlFails(step.args...); !strings.Contains(got, step.want) {
			c.Errorf("kubectl %s: want %q, got\n%s", strings.Join(step.args, " "), step.want, got)
		}
	}
}

// kubectl edit sends a patch, made from what an editor changes.
func testEdit(c *cluster) {
	edit := exec.Command("kubectl", "-n", c.Namespace, "edit", "pizzas.v1beta1."+group, "margherita")
	edit.Env = append(os.Environ(), `KUBE_EDITOR=sed -i "s/quantity: 2/quantity: 3/"`)
	if output, err := edit.CombinedOutput(); err != nil || !strings.Contains(string(output), "edited") {
		c.Errorf("kubectl edit: %v\n%s", err, output)
	}
	c.shows("3", "get", "pizzas.v1beta1."+group, "margherita", "-o", "jsonpath={.spec.toppings[1].quantity}")
}

// kubectl get -w prints what happens, as a Table.
func testKubectlWatch(c *cluster) {
	watch := c.Watch("get", "pizzas", "--watch", "--output-watch-events")
	read := 0
	next := func(want string) {
		c.Helper()
		read++
		watch.Prints(read, "\n")
		if line := strings.Split(watch.Output(), "\n")[read-1]; !regexp.MustCompile(want).MatchString(line) {
			c.Errorf("kubectl prints %q, want %s", line, want)
		}
	}
	next("EVENT +NAME +TOPPINGS +AGE")
	next("ADDED +margherita +tomato, mozzarella, mozzarella")
	c.Kubectl("create", "-f", "testdata/funghi.yaml")
	next("ADDED +funghi +tomato")
	c.Kubectl("patch", "pizza", "funghi", "--type=merge", "-p", `{"spec":{"toppings":[{"name":"salami","quantity":1}]}}`)
	next("MODIFIED +funghi +salami")
	c.Kubectl("delete", "pizza", "funghi")
	next("DELETED +funghi +salami")
}
