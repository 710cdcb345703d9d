package compare

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	officialv1alpha1 "k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	officialac "k8s.io/sample-controller/pkg/generated/applyconfiguration/samplecontroller/v1alpha1"
	official "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	officialclient "k8s.io/sample-controller/pkg/generated/clientset/versioned/typed/samplecontroller/v1alpha1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
	"example.com/byhand/kit/testkit"
)

var (
	seed  = flag.Int64("seed", time.Now().UnixNano(), "seed of the random calls")
	calls = flag.Int("calls", 2000, "how many random calls")
)

// sent is all of a request that an API server looks at.
type sent struct {
	Method, Path string
	Query        map[string][]string
	Header       http.Header
	Body         any
}

// recorder answers every request with an empty Foo and keeps what it was.
type recorder struct {
	server *httptest.Server
	got    []sent
}

func newRecorder(t *testing.T) *recorder {
	r := &recorder{}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		s := sent{Method: request.Method, Path: request.URL.EscapedPath(), Query: request.URL.Query(), Header: request.Header}
		if len(body) > 0 {
			if err := json.Unmarshal(body, &s.Body); err != nil {
				s.Body = string(body)
			}
			testkit.DropNulls(s.Body)
			// The body's own length follows from the body.
			s.Header.Del("Content-Length")
		}
		r.got = append(r.got, s)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":%q,"kind":"Foo"}`, v1alpha1.SchemeGroupVersion)
	}))
	t.Cleanup(r.server.Close)
	return r
}

// take returns what was sent since the last call.
func (r *recorder) take() []sent {
	got := r.got
	r.got = nil
	return got
}

// chance draws the parts of a call.
type chance struct{ *rand.Rand }

// one returns one of the values.
func one[T any](c chance, values ...T) T { return values[c.Intn(len(values))] }

func (c chance) name() string {
	return one(c, "one", "with.dots", "with space", "with/slash", "..", "ümläut", "100%", "q?a=b", "")
}
func (c chance) namespace() string { return one(c, "", "default", "kube-system", "with space", "a/b") }
func (c chance) text() string {
	return one(c, "", "", "a=b", "a in (b,c)", "metadata.name=x&y", "é", "0", "123")
}
func (c chance) number() *int64 { return one(c, nil, new(int64(0)), new(int64(1)), new(int64(30))) }
func (c chance) flag() *bool    { return one(c, nil, new(true), new(false)) }
func (c chance) dryRun() []string {
	return one(c, nil, []string{}, []string{metav1.DryRunAll})
}
func (c chance) list() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: c.text(), FieldSelector: c.text(), Watch: c.Intn(2) == 0, AllowWatchBookmarks: c.Intn(2) == 0,
		ResourceVersion: c.text(), ResourceVersionMatch: one(c, "", metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan),
		TimeoutSeconds: c.number(), Limit: int64(c.Intn(3)), Continue: c.text(), SendInitialEvents: c.flag()}
}
func (c chance) get() metav1.GetOptions { return metav1.GetOptions{ResourceVersion: c.text()} }
func (c chance) create() metav1.CreateOptions {
	return metav1.CreateOptions{DryRun: c.dryRun(), FieldManager: c.text(), FieldValidation: one(c, "", "Strict", "Warn")}
}
func (c chance) update() metav1.UpdateOptions { return metav1.UpdateOptions(c.create()) }
func (c chance) patch() metav1.PatchOptions {
	return metav1.PatchOptions{DryRun: c.dryRun(), Force: c.flag(), FieldManager: c.text(), FieldValidation: one(c, "", "Strict", "Warn")}
}
func (c chance) apply() metav1.ApplyOptions {
	return metav1.ApplyOptions{DryRun: c.dryRun(), Force: c.Intn(2) == 0, FieldManager: c.text()}
}
func (c chance) remove() metav1.DeleteOptions {
	return metav1.DeleteOptions{GracePeriodSeconds: c.number(), DryRun: c.dryRun(),
		PropagationPolicy: one(c, nil, new(metav1.DeletePropagationForeground), new(metav1.DeletePropagationBackground)),
		Preconditions:     one(c, nil, &metav1.Preconditions{}, &metav1.Preconditions{UID: new(types.UID("uid")), ResourceVersion: new("7")})}
}

// foo draws a Foo, as both types. The official type knows only a part of the
// status.
func (c chance) foo(name string) (*officialv1alpha1.Foo, *v1alpha1.Foo) {
	metadata := metav1.ObjectMeta{Name: name, Namespace: c.namespace(), ResourceVersion: c.text(), UID: types.UID(c.text()),
		Labels: one(c, nil, map[string]string{}, map[string]string{"a": "b"}), Finalizers: one(c, nil, []string{"f"})}
	replicas := one(c, nil, new(int32(0)), new(int32(3)))
	available := int32(c.Intn(3))
	theirs := &officialv1alpha1.Foo{ObjectMeta: metadata, Spec: officialv1alpha1.FooSpec{DeploymentName: c.text(), Replicas: replicas}}
	theirs.Status.AvailableReplicas = available
	ours := &v1alpha1.Foo{ObjectMeta: *metadata.DeepCopy(), Spec: v1alpha1.FooSpec{DeploymentName: theirs.Spec.DeploymentName, Replicas: replicas}}
	ours.Status.AvailableReplicas = available
	return theirs, ours
}

// configuration draws an apply configuration, as both types.
func (c chance) configuration(name string) (*officialac.FooApplyConfiguration, *applyconfiguration.FooApplyConfiguration) {
	namespace := c.namespace()
	theirs, ours := officialac.Foo(name, namespace), applyconfiguration.Foo(name, namespace)
	if c.Intn(2) == 0 {
		text, number := c.text(), int32(c.Intn(3))
		theirs.WithSpec(officialac.FooSpec().WithDeploymentName(text).WithReplicas(number))
		ours.Spec = &applyconfiguration.FooSpecApplyConfiguration{DeploymentName: &text, Replicas: &number}
	}
	if c.Intn(2) == 0 {
		theirs.WithStatus(officialac.FooStatus().WithAvailableReplicas(2))
		ours.Status = &applyconfiguration.FooStatusApplyConfiguration{AvailableReplicas: new(int32(2))}
	}
	if c.Intn(2) == 0 {
		labels := map[string]string{"a": c.text()}
		theirs.WithLabels(labels).WithAnnotations(labels).WithFinalizers("f").WithUID("uid").WithResourceVersion("7")
		ours.WithLabels(labels).WithAnnotations(labels).WithFinalizers("f").WithUID("uid").WithResourceVersion("7")
	}
	return theirs, ours
}

// verbs are those that both clients have.
var verbs = []string{"Create", "Update", "UpdateStatus", "Delete", "DeleteCollection", "Get", "List", "Watch", "Patch", "Apply", "ApplyStatus"}

// call draws a verb and its arguments, and makes the same call through both
// clients.
func (c chance) call(ctx context.Context, theirs officialclient.FooInterface, ours clientset.FooInterface) (verb string, theirErr, ourErr error) {
	stop := func(stream watch.Interface, err error) error {
		if err == nil {
			stream.Stop()
		}
		return err
	}
	name := c.name()
	verb = one(c, verbs...)
	switch verb {
	case "Create":
		opts := c.create()
		t, o := c.foo(name)
		_, theirErr = theirs.Create(ctx, t, opts)
		_, ourErr = ours.Create(ctx, o, opts)
	case "Update":
		opts := c.update()
		t, o := c.foo(name)
		_, theirErr = theirs.Update(ctx, t, opts)
		_, ourErr = ours.Update(ctx, o, opts)
	case "UpdateStatus":
		opts := c.update()
		t, o := c.foo(name)
		_, theirErr = theirs.UpdateStatus(ctx, t, opts)
		_, ourErr = ours.UpdateStatus(ctx, o, opts)
	case "Delete":
		opts := c.remove()
		theirErr, ourErr = theirs.Delete(ctx, name, opts), ours.Delete(ctx, name, opts)
	case "DeleteCollection":
		opts, list := c.remove(), c.list()
		theirErr, ourErr = theirs.DeleteCollection(ctx, opts, list), ours.DeleteCollection(ctx, opts, list)
	case "Get":
		opts := c.get()
		_, theirErr = theirs.Get(ctx, name, opts)
		_, ourErr = ours.Get(ctx, name, opts)
	case "List":
		opts := c.list()
		_, theirErr = theirs.List(ctx, opts)
		_, ourErr = ours.List(ctx, opts)
	case "Watch":
		opts := c.list()
		theirErr, ourErr = stop(theirs.Watch(ctx, opts)), stop(ours.Watch(ctx, opts))
	case "Patch":
		opts, data := c.patch(), []byte(one(c, `{"spec":{"replicas":3}}`, `[]`, `null`, ``))
		patchType := one(c, types.MergePatchType, types.JSONPatchType, types.StrategicMergePatchType, types.ApplyPatchType)
		subresources := one(c, nil, []string{"status"}, []string{"scale"}, []string{"a", "b"}, []string{"with space"}, []string{""})
		_, theirErr = theirs.Patch(ctx, name, patchType, data, opts, subresources...)
		_, ourErr = ours.Patch(ctx, name, patchType, data, opts, subresources...)
	case "Apply":
		opts := c.apply()
		t, o := c.configuration(name)
		_, theirErr = theirs.Apply(ctx, t, opts)
		_, ourErr = ours.Apply(ctx, o, opts)
	case "ApplyStatus":
		opts := c.apply()
		t, o := c.configuration(name)
		_, theirErr = theirs.ApplyStatus(ctx, t, opts)
		_, ourErr = ours.ApplyStatus(ctx, o, opts)
	}
	return verb, theirErr, ourErr
}

// The same call through the official generated client and through ours is the
// same request, or the same refusal to send one, whatever the arguments are.
func TestWireEqualsGenerated(t *testing.T) {
	t.Logf("seed %d; again with: go test -run TestWireEqualsGenerated . -seed %[1]d", *seed)
	c := chance{rand.New(rand.NewSource(*seed))}
	theirServer, ourServer := newRecorder(t), newRecorder(t)
	theirClient := official.NewForConfigOrDie(&rest.Config{Host: theirServer.server.URL, QPS: -1})
	ourClient := clientset.NewForConfigOrDie(&rest.Config{Host: ourServer.server.URL, QPS: -1})
	drawn, requests := map[string]int{}, 0
	for i := range *calls {
		namespace := c.namespace()
		verb, theirErr, ourErr := c.call(t.Context(),
			theirClient.SamplecontrollerV1alpha1().Foos(namespace), ourClient.SamplecontrollerV1alpha1().Foos(namespace))
		theirs, ours := theirServer.take(), ourServer.take()
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Fatalf("call %d, %s: requests differ (-generated +ours):\n%s", i, verb, diff)
		}
		if fmt.Sprint(theirErr) != fmt.Sprint(ourErr) {
			t.Fatalf("call %d, %s: the generated client returns %v, ours %v", i, verb, theirErr, ourErr)
		}
		drawn[verb]++
		requests += len(ours)
	}
	t.Logf("%d calls, %d requests, by verb: %v", *calls, requests, drawn)
	if len(drawn) != len(verbs) || requests < *calls/2 {
		t.Errorf("chance left out a verb or most requests: %v, %d requests", drawn, requests)
	}
}
