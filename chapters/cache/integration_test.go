//go:build integration

package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/internal/chaptertest"
)

// The commands of the README do what it says, with the rights in config/rbac. No other test here
// runs meanwhile: some make wanted Secrets, too.
func TestReadme(t *testing.T) {
	c := chaptertest.New(t)
	account := c.AccountWith("byhand-cache")
	script := c.Readme(c.Here())
	start := func(command string) *chaptertest.Program {
		args := strings.Fields(script.Skip(command))[1:]
		return c.Start(append(args, "--kubeconfig", account, "--namespace", c.Namespace)...)
	}
	c.Kubectl("apply", "-f", "config/samples") // make chapter does that.
	everything := start("bin/cache")
	everything.Prints(1, `(?m)^everything +\d+ +\d+ +\d+`)
	everything.Prints(1, `(?m)^get +0 +0 +\d+`)
	start("bin/cache --way shard,handler").Prints(1, `(?m)^handler +\d+`)
	p := start("bin/cache --way label --events 2")
	p.WaitFor("label: 1 objects, now waiting for 2 events")
	script.Run("kubectl label secret wanted cache-", "unlabeled")
	p.WaitFor("label: DELETED " + c.Namespace + "/wanted")
	script.Run("kubectl get secret wanted", "example.com/wanted")
	script.Run("kubectl label secret wanted cache=wanted", "labeled")
	p.WaitFor("label: ADDED " + c.Namespace + "/wanted")
	script.Skip("make cache-cost")
}

// Three processes hold a part each, chosen by the server. When one is killed, no other takes its
// part: a process that is started with two parts does.
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
	of := func(secret *corev1.Secret) (part int) {
		for i := range processes {
			if shard, err := parseShard(fmt.Sprint(i+1, "/3")); err == nil && has(shard, secret) {
				part = i
			}
		}
		return part
	}
	for i := range list.Items {
		processes[of(&list.Items[i])].Prints(1, `shard: ADDED `+c.Namespace+"/"+list.Items[i].Name+"\n")
	}
	for i, p := range processes {
		if strings.Contains(p.Output(), "gate") {
			t.Errorf("the server did not choose for process %d", i)
		}
		if got := strings.Count(p.Output(), "ADDED "+c.Namespace+"/"); got == 0 || got == len(list.Items) {
			t.Errorf("process %d has %d of %d", i, got, len(list.Items))
		}
	}

	killed := of(&list.Items[0])
	processes[killed].Kill()
	heir := start(fmt.Sprintf("%d,%d/3", killed+1, (killed+1)%3+1))
	c.Kubectl("delete", "secret", list.Items[0].Name)
	heir.Prints(1, `shard: DELETED `+c.Namespace+"/"+list.Items[0].Name+"\n")
	for i, p := range processes {
		if i != killed && strings.Contains(p.Output(), "DELETED "+c.Namespace+"/"+list.Items[0].Name+"\n") {
			t.Errorf("process %d has heard of another's part", i)
		}
	}
}

// What a live GET and a LIST may answer, by resourceVersion.
func TestVersions(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	secrets := c.Kube.CoreV1().Secrets(c.Namespace)
	old, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	newest, err := secrets.Update(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"l": "1"}}}, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	version, _ := strconv.Atoi(newest.ResourceVersion)
	future := strconv.Itoa(version + 1_000_000)
	for _, x := range []struct{ verb, version, match, want string }{
		{"GET", "", "", newest.ResourceVersion},                     // The newest, from etcd.
		{"GET", newest.ResourceVersion, "", newest.ResourceVersion}, // Not older than that, from memory.
		{"GET", future, "", "Too large resource version"},           // It waits for 3 s, then 504.
		{"LIST", "", "", newest.ResourceVersion},                    // The newest, from memory that was made sure of.
		{"LIST", old.ResourceVersion, "Exact", old.ResourceVersion},
		{"LIST", "1", "Exact", "too old resource version"}, // 410 once etcd has compacted it.
	} {
		var got string
		if x.verb == "GET" {
			secret, err := secrets.Get(t.Context(), "a", metav1.GetOptions{ResourceVersion: x.version})
			if got = fmt.Sprint(err); err == nil {
				got = secret.ResourceVersion
			}
		} else {
			list, err := secrets.List(t.Context(), metav1.ListOptions{ResourceVersion: x.version, ResourceVersionMatch: metav1.ResourceVersionMatch(x.match)})
			if got = fmt.Sprint(err); err == nil && len(list.Items) == 1 {
				got = list.Items[0].ResourceVersion
			} else if err == nil {
				got = fmt.Sprint(len(list.Items))
			}
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%+v: got %s", x, got)
		}
	}
}

// A mistake in the command line gets one line that says what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	chaptertest.Mistakes(t, map[string][]string{
		`no way "lable", but everything,`: {"--way", "everything,lable"},
		`"4/3" is no part of a whole`:     {"--shard", "4/3"},
		"cannot read the kubeconfig":      {"--kubeconfig", "/nowhere"},
	})
}
