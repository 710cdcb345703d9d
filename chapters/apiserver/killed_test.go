//go:build integration

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	corev1ConfigMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	corev1Namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
)

// forge adds headers that only the front proxy may send.
func forge(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("X-Remote-User", "system:admin")
		r.Header.Set("X-Remote-Group", "system:masters")
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// written is what was answered: the version of each topping, and the newest one.
type written struct {
	sync.Mutex
	versions map[string]string
	newest   int64
}

func (w *written) note(o *unstructured.Unstructured) {
	w.Lock()
	defer w.Unlock()
	w.versions[o.GetName()] = o.GetResourceVersion()
	if version, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64); err == nil {
		w.newest = max(w.newest, version)
	}
}

// Killed ten times while it is written to, it loses nothing that was answered. No revision
// goes back, and a watcher goes on where it was, or is told 410.
func TestKilled(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t)
	answered := &written{versions: map[string]string{}}
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for writer := range 4 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				herb := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"cost": int64(i)}}}
				herb.SetGroupVersionKind(kinds[1].gvk(hub))
				herb.SetName(fmt.Sprintf("herb-%d-%d", writer, i))
				if created, err := c.Resource(toppings).Create(ctx, herb, metav1.CreateOptions{}); err == nil {
					answered.note(created)
				}
			}
		})
	}
	defer func() { cancel(); writers.Wait() }()
	for round := range 10 {
		c.Eventually("some writes", func() error {
			answered.Lock()
			defer answered.Unlock()
			if len(answered.versions) < 5*(round+1) {
				return fmt.Errorf("%d so far", len(answered.versions))
			}
			return nil
		})
		time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond)))) // The kill comes at any moment.
		c.program.Kill()
		answered.Lock()
		want, newest := make(map[string]string), answered.newest
		for name, version := range answered.versions {
			want[name] = version
		}
		answered.Unlock()
		c.run()
		c.check(want, newest)
	}
}

// check compares what is stored with what was answered before.
func (c *cluster) check(want map[string]string, newest int64) {
	c.Helper()
	list, err := c.Resource(toppings).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	for _, topping := range list.Items {
		if version, ok := want[topping.GetName()]; ok && version != topping.GetResourceVersion() {
			c.Errorf("%s is of version %s, was of %s", topping.GetName(), topping.GetResourceVersion(), version)
		}
		delete(want, topping.GetName())
	}
	if len(want) > 0 {
		c.Errorf("lost: %v", want)
	}
	if now, err := strconv.ParseInt(list.GetResourceVersion(), 10, 64); err != nil || now < newest {
		c.Errorf("the revision is %s, was %d (%v)", list.GetResourceVersion(), newest, err)
	}
	// A watcher that has seen half of it sees the rest, or is told.
	half := strconv.FormatInt(newest/2, 10)
	watcher, err := c.Resource(toppings).Watch(c.Context(), metav1.ListOptions{ResourceVersion: half})
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	if err != nil {
		c.Fatal(err)
	}
	defer watcher.Stop()
	event := <-watcher.ResultChan()
	topping, ok := event.Object.(*unstructured.Unstructured)
	if next := strconv.FormatInt(newest/2+1, 10); !ok || event.Type != watch.Added || topping.GetResourceVersion() != next {
		c.Errorf("after version %s comes %s %v, want what was added in %s", half, event.Type, event.Object, next)
	}
}

// The program takes its registration away when it ends. One that was killed leaves it, and
// then down.sh does that.
func TestRegistration(t *testing.T) {
	c := newCluster(t)
	registered := func() int {
		return strings.Count(c.Kubectl("get", "apiservices", "-o", "name"), group)
	}
	if got := registered(); got != len(versions) {
		t.Errorf("while it runs there are %d APIServices, want %d", got, len(versions))
	}
	c.stop()
	if got := registered(); got != 0 {
		t.Errorf("when it has ended there are %d APIServices, want 0", got)
	}
	c.run()
	c.program.Kill()
	if got := registered(); got != len(versions) {
		t.Errorf("when it was killed there are %d APIServices, want %d", got, len(versions))
	}
	// This is how one sees it.
	c.shows("False", "get", "apiservice", apiServiceName(hub), "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
	down := exec.Command("sh", "down.sh")
	down.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	if output, err := down.CombinedOutput(); err != nil {
		t.Fatalf("down.sh: %v\n%s", err, output)
	}
	if got := registered(); got != 0 {
		t.Errorf("after down.sh there are %d APIServices, want 0", got)
	}
	c.run() // The clean-up stops it.
}
