//go:build bare && long

package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/run/subprocess"
)

// How much longer a cold start of 1,000 Foos takes behind the glass: 20 % at most, in the median of
// pairs.
func TestCost(t *testing.T) {
	program, glass := build(t, "build", "../.."), build(t, "build", ".")
	foos, _, clear := clients(cluster(t))
	t.Cleanup(clear)
	coldStart := func(args ...string) time.Duration {
		clear()
		for i := range 1000 {
			name := fmt.Sprint("foo-", i)
			foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(1))}}
			if _, err := foos.Create(t.Context(), foo, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		p := subprocess.Run(t, exec.Command(args[0], args[1:]...), deadline)
		// The API server says when all is done, for not every line is told when there are many at once.
		if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, deadline, true, func(ctx context.Context) (bool, error) {
			list, err := foos.List(ctx, metav1.ListOptions{})
			return err == nil && !slices.ContainsFunc(list.Items, func(foo v1alpha1.Foo) bool { return len(foo.Status.Conditions) == 0 }), err
		}); err != nil {
			t.Fatal(err)
		}
		took := time.Since(p.Started)
		p.Stop()
		t.Logf("%6.2f s  %q", took.Seconds(), args)
		return took
	}
	var ratios []float64
	for range 5 {
		without := coldStart(program)
		with := coldStart(glass, "--page=", "--allow=get-of-watched", "--", program)
		ratios = append(ratios, with.Seconds()/without.Seconds())
	}
	slices.Sort(ratios)
	if t.Logf("behind the glass it takes %.2f times as long: %.2f", ratios[len(ratios)/2], ratios); ratios[len(ratios)/2] > 1.2 {
		t.Error("want 1.2 times at most")
	}
}
