//go:build bare

package main

import (
	"flag"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/requests"
)

var (
	coldFoos = flag.Int("foos", 200, "how many Foos")
	rounds   = flag.Int("rounds", 1, "how many cold starts of each program")
)

// TestColdStart starts the program on many Foos that have nothing yet, with our parts and with
// client-go's by turns, and counts at the API server what it writes: one POST and one PUT for
// each Foo, and no conflict. It fails on a count, never on a time.
func TestColdStart(t *testing.T) {
	total := map[string]time.Duration{}
	for round := range *rounds {
		order := []string{"", "shared,queue"}
		if round%2 == 1 {
			order[0], order[1] = order[1], order[0]
		}
		for _, parts := range order {
			total[parts] += coldStart(t, parts)
		}
	}
	t.Logf("ours take %.2f times as long", total[""].Seconds()/total["shared,queue"].Seconds())
}

func coldStart(t *testing.T, parts string) time.Duration {
	c := chaptertest.New(t)
	foos := clientset.NewForConfigOrDie(c.Config).SamplecontrollerV1alpha1().Foos(c.Namespace)
	workqueue.ParallelizeUntil(t.Context(), 16, *coldFoos, func(i int) {
		name := fmt.Sprintf("foo-%05d", i)
		foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(1))}}
		if _, err := foos.Create(t.Context(), foo, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
	list, err := foos.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	written, err := foos.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer written.Stop()
	counts := func() requests.Counts {
		counts, err := requests.Read(t.Context(), c.Kube.Discovery().RESTClient())
		if err != nil {
			t.Fatal(err)
		}
		return counts
	}
	before := counts()

	p := c.Start("--kubeconfig", c.Kubeconfig, "--namespace", c.Namespace, "--client-go", parts)
	for range *coldFoos { // Each gets one status, as the count says.
		<-written.ResultChan()
	}
	took := time.Since(p.Started)
	status, err := p.Status()
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	writes := counts().Minus(before)
	t.Logf("%d Foos, --client-go=%-12s %6.2f s, %3d MiB at most, %d writes, %d conflicts", *coldFoos, parts,
		took.Seconds(), status.VmHWM>>20, writes.Writes().Sum(), writes.Conflicts().Sum())
	if n := writes.Writes().Sum(); n != 2**coldFoos {
		t.Errorf("--client-go=%s: %d writes, want %d: %v", parts, n, 2**coldFoos, writes.Writes())
	}
	return took
}
