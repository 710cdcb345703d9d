package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/run/plane"
	"example.com/byhand/internal/run/subprocess"
	"example.com/byhand/internal/tests/requests"
)

const namespace = "default"

// run is one cold start of a form: its figures, in the order of the names in figures, and one of
// its results.
type run struct {
	figures []float64
	outcome string
}

// coldStart starts a form on n Foos that have nothing yet, on a new control plane. It measures
// until no more writes arrive.
func (f form) coldStart(ctx context.Context, cluster plane.Command, dir string, n int) (r run, err error) {
	server, err := cluster.Up(ctx, plane.Bare, "harness")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, server.Down()) }()
	limit := time.Minute + time.Duration(n)*100*time.Millisecond
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not finished after %s", limit))
	defer cancel()
	client, err := clientset.NewForConfig(server.Config)
	if err != nil {
		return r, err
	}
	events, err := createFoos(ctx, server, client, n)
	if err != nil {
		return r, err
	}
	defer events.Stop()
	before, err := requests.Read(ctx, server.Kube.Discovery().RESTClient())
	if err != nil {
		return r, err
	}
	p, err := subprocess.Start(f.command(ctx, dir, server.Kubeconfig))
	if err != nil {
		return r, err
	}
	defer func() { _ = p.Stop(10 * time.Second) }()
	defer func() { err = p.Explain(err) }()
	status, err := lastStatus(ctx, events.ResultChan(), p.Done(), n)
	if err != nil {
		return r, err
	}
	after, write, err := settle(ctx, server, status)
	if err != nil {
		return r, err
	}
	cpu, err := p.CPU()
	if err != nil {
		return r, err
	}
	sent, foos := after.Minus(before), float64(n)
	r.figures = []float64{
		foos / status.Sub(p.Started).Seconds(), foos / write.Sub(p.Started).Seconds(), cpu.Seconds(),
		float64(subprocess.Peak(p.PID())) / (1 << 20), float64(sent.Writes().Sum()) / foos, float64(sent.Conflicts().Sum()),
	}
	r.outcome, err = outcome(ctx, server, client, n)
	return r, err
}

func fooName(i int) string { return fmt.Sprintf("foo-%06d", i) }

// createFoos creates n Foos, and returns a watch that begins after that. The watch has metadata
// alone, because the harness competes for the same CPUs.
func createFoos(ctx context.Context, server *plane.Plane, client clientset.Interface, n int) (watch.Interface, error) {
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error {
			_, err := client.SamplecontrollerV1alpha1().Foos(namespace).Create(creating, &v1alpha1.Foo{
				ObjectMeta: metav1.ObjectMeta{Name: fooName(i)},
				Spec:       v1alpha1.FooSpec{DeploymentName: fooName(i), Replicas: new(int32(1))},
			}, metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("create the Foos: %w", err)
	}
	list, err := client.SamplecontrollerV1alpha1().Foos(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(server.Config)
	if err != nil {
		return nil, err
	}
	return objects.Resource(v1alpha1.SchemeGroupVersion.WithResource("foos")).Namespace(namespace).
		Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
}

// lastStatus waits until each of n Foos has changed, and returns the time of the last one. Each
// form writes a status after it has created the Deployment, and nothing else changes a Foo.
func lastStatus(ctx context.Context, events <-chan watch.Event, ended <-chan struct{}, n int) (time.Time, error) {
	for written := map[string]bool{}; ; {
		select {
		case event, open := <-events:
			if !open || event.Type != watch.Modified {
				return time.Time{}, fmt.Errorf("the watch of Foos: event %q, open %t", event.Type, open)
			}
			written[event.Object.(metav1.Object).GetName()] = true
			if len(written) == n {
				return time.Now(), nil
			}
		case <-ended:
			return time.Time{}, subprocess.ErrEnded
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("%d of %d Foos have a status: %w", len(written), n, context.Cause(ctx))
		}
	}
}

// settle waits until the API server has counted no write for a second. The last write was at the
// returned time, which is at least since, or at most 300 ms later.
func settle(ctx context.Context, server *plane.Plane, since time.Time) (counts requests.Counts, write time.Time, err error) {
	write = since
	for writes, asked, changed := -1, since, since; ; time.Sleep(250 * time.Millisecond) {
		previous := asked
		asked = time.Now()
		if counts, err = requests.Read(ctx, server.Kube.Discovery().RESTClient()); err != nil {
			return nil, write, err
		}
		now := counts.Writes().Sum()
		switch {
		case writes < 0:
			changed = asked
		case now != writes:
			write, changed = previous, asked
		case asked.Sub(changed) > time.Second:
			return counts, write, nil
		}
		writes = now
	}
}

// outcome returns the Deployment and the status of one Foo as JSON, without its UID, times and
// messages. It is an error if a Foo has no Deployment.
func outcome(ctx context.Context, server *plane.Plane, client clientset.Interface, n int) (string, error) {
	deployments, err := server.Kube.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	foo, err := client.SamplecontrollerV1alpha1().Foos(namespace).Get(ctx, fooName(0), metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for i := range foo.Status.Conditions {
		foo.Status.Conditions[i].LastTransitionTime, foo.Status.Conditions[i].Message = metav1.Time{}, ""
	}
	for _, d := range deployments.Items {
		if d.Name == foo.Name && len(deployments.Items) == n {
			text, err := json.Marshal([]any{d.Annotations, d.OwnerReferences, d.Spec, foo.Status})
			return strings.ReplaceAll(string(text), string(foo.UID), "UID"), err
		}
	}
	return "", fmt.Errorf("%d Deployments for %d Foos", len(deployments.Items), n)
}
