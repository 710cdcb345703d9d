package observer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

const credential = "a-token-that-no-reader-may-see"

const (
	fooPath     = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/foo"
	deployments = "/apis/apps/v1/namespaces/default/deployments/"
)

// served is an Observer between real clients and an API server in memory, which has a Foo.
func served(t *testing.T) (*Observer, *testkit.APIServer, clientset.Interface, kubernetes.Interface) {
	t.Helper()
	r, api := observing(), tests.NewAPIServer()
	api.Add(fooPath, stored(foo("")))
	config := api.Config()
	config.BearerToken = credential
	config = r.Requests(config)
	r.kinds["Foo"].isReconciled = true
	return r, api, clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
}

// stored returns an object in the form that the API server in memory stores.
func stored(object runtime.Object) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: open(object)}
}

func updated(version string) *v1alpha1.Foo {
	f := foo(version)
	f.UID, f.Status.AvailableReplicas = "", 1
	f.Status.Conditions = []metav1.Condition{{Type: v1alpha1.FooReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNameTaken, LastTransitionTime: metav1.Now()}}
	return f
}

// The requests of a reconcile: request, response, owner, the summary of the reconcile, and the versions
// that count as own writes. Secrets are hidden.
func TestExchange(t *testing.T) {
	r, api, client, kube := served(t)
	api.Add(deployments+"old", stored(deployment("", true)))
	api.Add(deployments+"kept", stored(deployment("", true)))
	api.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if accepts := r.Header.Get("Accept"); accepts != runtime.ContentTypeJSON {
			t.Errorf("%s %s accepts %q", r.Method, r.URL.Path, accepts)
		}
		switch {
		case r.Method == http.MethodPatch:
			panic(http.ErrAbortHandler)
		case r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/kept"):
			testkit.WriteError(w, apierrors.NewForbidden(appsv1.Resource("deployments"), "kept", errors.New("no permission")))
			return true
		}
		return false
	})
	uid := string(api.Get(deployments + "old").GetUID())
	observed := r.Reconcile(fooKind, reconcileFunc(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
		deployments, foos, of := kube.AppsV1().Deployments("default"), client.SamplecontrollerV1alpha1().Foos("default"), updated(api.Get(fooPath).GetResourceVersion())
		_, created := deployments.Create(ctx, deployment("", true), metav1.CreateOptions{})
		_, exists := deployments.Create(ctx, deployment("", true), metav1.CreateOptions{})
		_, got := deployments.Get(ctx, "kept", metav1.GetOptions{})
		deleted := deployments.Delete(ctx, "old", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(uid)})
		forbidden := deployments.Delete(ctx, "kept", metav1.DeleteOptions{})
		_, lost := deployments.Patch(ctx, "d", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		_, wrote := foos.UpdateStatus(ctx, of, metav1.UpdateOptions{})
		_, conflict := foos.Update(ctx, of, metav1.UpdateOptions{})
		if err := errors.Join(created, got, deleted, wrote); err != nil || !apierrors.IsAlreadyExists(exists) || !apierrors.IsForbidden(forbidden) || lost == nil {
			t.Errorf("errors %v, %v, %v, %v, want the server's own", err, exists, forbidden, lost)
		}
		return 0, conflict
	}))
	if _, err := observed.Reconcile(t.Context(), fooKey); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want the server's own", err)
	}

	past := kept(r)
	var lines []string
	for _, step := range past {
		if step.For != "Foo default/foo" {
			t.Errorf("%s %s is for %q", step.Part, step.What, step.For)
		}
		if step.Part == trace.PartRequest {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %d: %s", step.What, step.Request.Method, step.Kind, step.Key, step.Request.Status, step.Text))
		}
	}
	if diff := cmp.Diff([]string{
		"sent POST Deployment default/d 0: create Deployment d",
		"answered POST Deployment default/d 201: Created",
		"sent POST Deployment default/d 0: create Deployment d",
		`answered POST Deployment default/d 409: deployments.apps "d" already exists`,
		"sent GET Deployment default/kept 0: get Deployment kept",
		"answered GET Deployment default/kept 200: OK",
		"sent DELETE Deployment default/old 0: delete Deployment old",
		"answered DELETE Deployment default/old 200: OK",
		"sent DELETE Deployment default/kept 0: delete Deployment kept",
		`answered DELETE Deployment default/kept 403: deployments.apps "kept" is forbidden: no permission`,
		"sent PATCH Deployment default/d 0: patch Deployment d",
		"failed PATCH Deployment default/d 0: no answer: unexpected EOF",
		"sent PUT Foo default/foo 0: update the status of Foo foo",
		"answered PUT Foo default/foo 200: OK",
		"sent PUT Foo default/foo 0: update Foo foo",
		`answered PUT Foo default/foo 409: Operation cannot be fulfilled on foos.samplecontroller.k8s.io "foo": ` +
			"the object has been modified; please apply your changes to the latest version and try again",
	}, lines); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	last := past[len(past)-1]
	const decision = "created Deployment d; create Deployment d: there is one already; asked the server for Deployment kept; " +
		"deleted Deployment old; delete Deployment kept: 403 Forbidden; no answer to PATCH Deployment d; wrote the status (Ready False, NameTaken); " +
		"update Foo foo: Conflict, another client wrote first; error: "
	if last.What != trace.Failed || !strings.HasPrefix(last.Text, decision) {
		t.Errorf("the reconcile %s: %s, want failed: %s", last.What, last.Text, decision)
	}
	version := api.Get(deployments + "d").GetResourceVersion()
	created := past[2]
	if created.Version != version || created.Request.Bytes == 0 || created.Took <= 0 || !json.Valid([]byte(created.Request.Reply)) || !json.Valid([]byte(past[1].Request.Body)) {
		t.Errorf("the response to the POST is %+v, %+v", created, created.Request)
	}
	own := [][2]string{{"Deployment", version}, {"Foo", api.Get(fooPath).GetResourceVersion()}, {"Deployment", uid}}
	for _, made := range own {
		if r.own.of(made[0], made[1]) == 0 {
			t.Errorf("%s does not count as our own write", made)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"k": "hunter2"}}
	if _, err := kube.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{FieldManager: "hunter2"}); err != nil {
		t.Error(err)
	}
	if past = kept(r); len(past) != len(lines)+4 {
		t.Errorf("%d steps, want two of the Secret", len(past))
	}
	noSecrets(t, past)
}

func noSecrets(t *testing.T, steps []trace.Step) {
	t.Helper()
	for _, step := range steps {
		text, err := json.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{credential, "hunter2", "Bearer", "everything again"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%q is in %s", secret, text)
			}
		}
	}
}

// Each event of a watch is a step with its object, and the end of the watch a step with its reason.
func TestStream(t *testing.T) {
	r, api, client, kube := served(t)
	before := api.Latest()
	initial := metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	foos, err := client.SamplecontrollerV1alpha1().Foos("").Watch(t.Context(), initial)
	ofDeployments, errOfDeployments := kube.AppsV1().Deployments("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: before})
	if err := errors.Join(err, errOfDeployments); err != nil {
		t.Fatal(err)
	}
	<-foos.ResultChan()
	<-foos.ResultChan()
	api.Edit(fooPath, func(foo *unstructured.Unstructured) { foo.SetLabels(map[string]string{"changed": "yes"}) })
	<-foos.ResultChan()
	foos.Stop()
	api.Add(deployments+"d", stored(deployment("", true)))
	<-ofDeployments.ResultChan()
	api.EndWatches("deployments")
	for _, stream := range []watch.Interface{foos, ofDeployments} {
		for range stream.ResultChan() {
		}
	}

	past, changed, made := kept(r), api.Get(fooPath).GetResourceVersion(), api.Get(deployments+"d").GetResourceVersion()
	lines := map[string][]string{}
	for _, step := range past {
		lines[step.Kind] = append(lines[step.Kind], strings.TrimSpace(fmt.Sprintf("%s %s %s: %s %s", step.What, step.Key, step.Version, step.Text, step.For)))
	}
	if diff := cmp.Diff(map[string][]string{
		"Foo": {
			"opened  : streaming list, then watch",
			"received default/foo " + before + ": ADDED Foo default/foo",
			"received  " + before + ": BOOKMARK: the list is complete",
			"received default/foo " + changed + ": MODIFIED Foo default/foo",
			"ended  : this process ends it",
		},
		"Deployment": {
			"opened  : watch from version " + before,
			"received default/d " + made + ": ADDED Foo default/foo",
			"ended  : the API server ended it",
		},
	}, lines); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	r.publishing.Lock()
	defer r.publishing.Unlock()
	if r.received.of("Foo", before) != 0 || r.received.of("Foo", changed) == 0 || r.received.of("Deployment", made) == 0 {
		t.Error("only an event after the list may be the cause of a change")
	}
	noSecrets(t, past)
}
