//go:build integration

package main

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/internal/chaptertest"
)

// TestReadme runs the README's commands, with the permissions of config/rbac. It does not run in
// parallel: some other tests create wanted Secrets, too.
func TestReadme(t *testing.T) {
	c := chaptertest.New(t)
	account := c.AccountWith("byhand-cache")
	script := c.Readme(c.Here())
	start := func(command string) *chaptertest.Program {
		args := strings.Fields(script.Take(command))[1:]
		return c.Start(append(args, "--kubeconfig", account, "--namespace", c.Namespace)...)
	}
	c.Kubectl("apply", "-f", "config/samples") // like make chapter
	everything := start("bin/cache")
	everything.Prints(1, `(?m)^selectable +1 +1 +\d+`)
	everything.Prints(1, `(?m)^get +0 +0 +\d+`)
	start("bin/cache --way shard,handler").Prints(1, `(?m)^handler +\d+`)
	p := start("bin/cache --way label --events 2")
	p.WaitFor("label: 1 objects, now waiting for 2 events")
	script.Run("kubectl label secret byhand-cache-wanted cache-", "unlabeled")
	p.WaitFor("label: DELETED " + c.Namespace + "/byhand-cache-wanted")
	script.Run("kubectl get secret byhand-cache-wanted", "example.com/wanted")
	script.Run("kubectl label secret byhand-cache-wanted cache=wanted", "labeled")
	p.WaitFor("label: ADDED " + c.Namespace + "/byhand-cache-wanted")
	script.Take("go -C tools/cluster run . exec")
}

// TestShards: three processes hold a part each. No process takes over the part of a killed process.
func TestShards(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	start := func(parts string) *chaptertest.Program {
		p := c.Start("--kubeconfig", c.Kubeconfig, "--way", "shard", "--shard", parts, "--events", "100000")
		p.WaitFor("now waiting")
		return p
	}
	processes := []*chaptertest.Program{start("1/3"), start("2/3"), start("3/3")}
	fill(c, []string{c.Namespace}, 12, 1)
	list, err := c.Kube.CoreV1().Secrets(c.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	killed, held := 0, make([]int, 3)
	for n := range list.Items {
		for i, p := range processes {
			if shard, _ := parseShard(fmt.Sprint(i+1, "/3")); has(shard, &list.Items[n]) {
				p.Prints(1, "shard: ADDED "+c.Namespace+"/"+list.Items[n].Name+"\n")
				held[i]++
				killed = i
			}
		}
	}

	processes[killed].Kill()
	heir := start(fmt.Sprintf("%d,%d/3", killed+1, (killed+1)%3+1))
	c.Kubectl("delete", "secret", list.Items[len(list.Items)-1].Name)
	heir.WaitFor("shard: DELETED " + c.Namespace + "/" + list.Items[len(list.Items)-1].Name)
	for i, p := range processes {
		if got := strings.Count(p.Output(), c.Namespace); got != held[i] || strings.Contains(p.Output(), "gate") {
			t.Errorf("process %d, want %d events selected by the server:\n%s", i, held[i], p.Output())
		}
	}
}

// TestOneName: a Role with resourceNames is enough for a cache of that Secret, and of no other.
func TestOneName(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	fill(c, []string{c.Namespace}, 2, 1)
	c.Kubectl("create", "role", "one", "--verb=get,list,watch", "--resource=secrets", "--resource-name=secret-1")
	c.Kubectl("create", "serviceaccount", "program")
	c.Kubectl("create", "rolebinding", "one", "--role=one", "--serviceaccount="+c.Namespace+":program")
	account := c.As(c.Kubectl("create", "token", "program"))
	start := func(ways, secret string) *chaptertest.Program {
		return c.Start("--kubeconfig", account, "--namespace", c.Namespace, "--way", ways, "--secret", secret)
	}
	allowed := start("name,get", "secret-1")
	allowed.Prints(1, `(?m)^name +1 +1 `)
	allowed.Prints(1, `(?m)^get +0 +0 `)
	for way, secret := range map[string]string{"name": "secret-0", "namespace": "secret-1"} {
		start(way, secret).Prints(1, "--way "+way+": .*is forbidden")
	}
}

// TestVersions checks the results of live GETs and LISTs, by resourceVersion.
func TestVersions(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	secrets := c.Kube.CoreV1().Secrets(c.Namespace)
	versionOf := []string{"get", "secret", "a", "-o", "jsonpath={.metadata.resourceVersion}"}
	c.Kubectl("create", "secret", "generic", "a")
	old := c.Kubectl(versionOf...)
	c.Kubectl("label", "secret", "a", "l=1")
	newest := c.Kubectl(versionOf...)
	get := func(version string) string {
		secret := &corev1.Secret{}
		err := c.Kube.CoreV1().RESTClient().Get().Namespace(c.Namespace).Resource("secrets").Name("a").Param("resourceVersion", version).MaxRetries(0).Do(t.Context()).Into(secret)
		return secret.ResourceVersion + fmt.Sprint(err)
	}
	list := func(version string, match metav1.ResourceVersionMatch) string {
		list, err := secrets.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a", ResourceVersion: version, ResourceVersionMatch: match})
		if err != nil || len(list.Items) != 1 {
			return fmt.Sprint(len(list.Items), err)
		}
		return list.Items[0].ResourceVersion + "<nil>"
	}
	for _, x := range []struct{ request, got, want string }{
		{"GET", get(""), newest + "<nil>"},
		{"GET, from the future", get(newest + "000000"), "Too large resource version"},
		{"LIST", list("", ""), newest + "<nil>"},
		{"LIST, exactly the old version", list(old, metav1.ResourceVersionMatchExact), old + "<nil>"},
	} {
		if !strings.Contains(x.got, x.want) {
			t.Errorf("%s: got %s, want %s", x.request, x.got, x.want)
		}
	}
	// The API server's memory may be stale: either version is correct.
	if got := get(old); got != old+"<nil>" && got != newest+"<nil>" {
		t.Errorf("GET, not older than the old version: got %s, want %s or %s", got, old, newest)
	}
}
