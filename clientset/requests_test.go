package clientset_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	projectac "example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	fooac "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

type (
	project     = examplesv1alpha1.Project
	projectList = examplesv1alpha1.ProjectList
	foo         = samplecontrollerv1alpha1.Foo
	fooList     = samplecontrollerv1alpha1.FooList
)

// verbs is what the clients of both resources have in common. T is the object, L
// its list.
type verbs[T, L any] interface {
	Create(ctx context.Context, object *T, opts metav1.CreateOptions) (*T, error)
	Update(ctx context.Context, object *T, opts metav1.UpdateOptions) (*T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*T, error)
	List(ctx context.Context, opts metav1.ListOptions) (*L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*T, error)
}

// resource is all that differs between two resources.
type resource[T, L any] struct {
	// in returns the client for a namespace, or for all if namespace is "".
	in func(c clientset.Interface, namespace string) verbs[T, L]
	// The URL paths of all objects, of those in namespace shop, and of one of them.
	everywhere, collection, item string
	// That one and a list, each as Go has it and as the wire has it.
	object     *T
	objectWire string
	list       *L
	listWire   string
	// groupVersion is the apiVersion of the bodies.
	groupVersion string
}

var projects = resource[project, projectList]{
	in: func(c clientset.Interface, namespace string) verbs[project, projectList] {
		return c.ExamplesV1alpha1().Projects(namespace)
	},
	everywhere: "/apis/examples-gzh.com/v1alpha1/projects",
	collection: "/apis/examples-gzh.com/v1alpha1/namespaces/shop/projects",
	item:       "/apis/examples-gzh.com/v1alpha1/namespaces/shop/projects/one",
	object: &project{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "one", ResourceVersion: "7"},
		Spec:       examplesv1alpha1.ProjectSpec{Replicas: 2},
	},
	objectWire: `{
		"apiVersion": "examples-gzh.com/v1alpha1", "kind": "Project",
		"metadata": {"namespace": "shop", "name": "one", "resourceVersion": "7"},
		"spec": {"replicas": 2}
	}`,
	list: &projectList{
		ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"},
		Items:    []project{{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, {ObjectMeta: metav1.ObjectMeta{Name: "two"}}},
	},
	listWire: `{
		"apiVersion": "examples-gzh.com/v1alpha1", "kind": "ProjectList",
		"metadata": {"resourceVersion": "9", "continue": "more"},
		"items": [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]
	}`,
	groupVersion: "examples-gzh.com/v1alpha1",
}

var foos = resource[foo, fooList]{
	in: func(c clientset.Interface, namespace string) verbs[foo, fooList] {
		return c.SamplecontrollerV1alpha1().Foos(namespace)
	},
	everywhere: "/apis/samplecontroller.k8s.io/v1alpha1/foos",
	collection: "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/shop/foos",
	item:       "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/shop/foos/one",
	object: &foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "one", ResourceVersion: "7"},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(0))},
		Status:     samplecontrollerv1alpha1.FooStatus{Replicas: 2, Selector: "app=web"},
	},
	objectWire: `{
		"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo",
		"metadata": {"namespace": "shop", "name": "one", "resourceVersion": "7"},
		"spec": {"deploymentName": "web", "replicas": 0},
		"status": {"replicas": 2, "availableReplicas": 0, "selector": "app=web"}
	}`,
	list: &fooList{
		ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"},
		Items:    []foo{{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, {ObjectMeta: metav1.ObjectMeta{Name: "two"}}},
	},
	listWire: `{
		"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "FooList",
		"metadata": {"resourceVersion": "9", "continue": "more"},
		"items": [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]
	}`,
	groupVersion: "samplecontroller.k8s.io/v1alpha1",
}

// scale is what the scale subresource sends and takes.
var scale = &autoscalingv1.Scale{
	ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "one", ResourceVersion: "7"},
	Spec:       autoscalingv1.ScaleSpec{Replicas: 3},
	Status:     autoscalingv1.ScaleStatus{Replicas: 2, Selector: "app=web"},
}

const scaleWire = `{
	"apiVersion": "autoscaling/v1", "kind": "Scale",
	"metadata": {"namespace": "shop", "name": "one", "resourceVersion": "7"},
	"spec": {"replicas": 3}, "status": {"replicas": 2, "selector": "app=web"}
}`

// TestRequests drives both resources through every verb and proves what each call
// puts on the wire, to the letter, and what it makes of the reply.
func TestRequests(t *testing.T) {
	t.Run("projects", func(t *testing.T) {
		testRequests(t, projects, request[project, projectList]{
			name:   "apply",
			reason: "fields that were not set are not sent: a 0 would take replicas from its owner",
			call: func(ctx context.Context, c verbs[project, projectList]) (any, error) {
				return c.(clientset.ProjectInterface).Apply(ctx, projectac.Project("one", "shop").WithSpec(projectac.ProjectSpec().WithReplicas(2)),
					metav1.ApplyOptions{FieldManager: "me", Force: true, DryRun: []string{"All"}})
			},
			method: "PATCH", path: projects.item, query: "fieldManager=me&force=true&dryRun=All", contentType: "application/apply-patch+yaml",
			body: `{"apiVersion": "examples-gzh.com/v1alpha1", "kind": "Project",
				"metadata": {"name": "one", "namespace": "shop"}, "spec": {"replicas": 2}}`,
			reply: projects.objectWire, want: projects.object,
		})
	})
	t.Run("foos", func(t *testing.T) {
		testRequests(t, foos, request[foo, fooList]{
			name:   "update status",
			reason: "the status has a URL of its own; an Update would be answered with 200 and change no status",
			call: func(ctx context.Context, c verbs[foo, fooList]) (any, error) {
				return c.(clientset.FooInterface).UpdateStatus(ctx, foos.object, metav1.UpdateOptions{FieldManager: "me"})
			},
			method: "PUT", path: foos.item + "/status", query: "fieldManager=me",
			contentType: "application/json", body: foos.objectWire,
			reply: foos.objectWire, want: foos.object,
		}, request[foo, fooList]{
			name: "apply",
			call: func(ctx context.Context, c verbs[foo, fooList]) (any, error) {
				return c.(clientset.FooInterface).Apply(ctx, fooac.Foo("one", "shop").WithLabels(map[string]string{"app": "web"}).
					WithSpec(fooac.FooSpec().WithDeploymentName("web")), metav1.ApplyOptions{FieldManager: "me"})
			},
			method: "PATCH", path: foos.item, query: "fieldManager=me&force=false", contentType: "application/apply-patch+yaml",
			body: `{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo",
				"metadata": {"name": "one", "namespace": "shop", "labels": {"app": "web"}}, "spec": {"deploymentName": "web"}}`,
			reply: foos.objectWire, want: foos.object,
		}, request[foo, fooList]{
			name: "apply status",
			call: func(ctx context.Context, c verbs[foo, fooList]) (any, error) {
				return c.(clientset.FooInterface).ApplyStatus(ctx, fooac.Foo("one", "shop").WithStatus(fooac.FooStatus().WithReplicas(0).WithAvailableReplicas(0).
					WithConditions(metav1ac.Condition().WithType("Ready"))), metav1.ApplyOptions{FieldManager: "me"})
			},
			method: "PATCH", path: foos.item + "/status", query: "fieldManager=me&force=false", contentType: "application/apply-patch+yaml",
			body: `{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "metadata": {"name": "one", "namespace": "shop"},
				"status": {"replicas": 0, "availableReplicas": 0, "conditions": [{"type": "Ready"}]}}`,
			reply: foos.objectWire, want: foos.object,
		}, request[foo, fooList]{
			name: "get scale",
			call: func(ctx context.Context, c verbs[foo, fooList]) (any, error) {
				return c.(clientset.FooInterface).GetScale(ctx, "one", metav1.GetOptions{ResourceVersion: "5"})
			},
			method: "GET", path: foos.item + "/scale", query: "resourceVersion=5",
			reply: scaleWire, want: scale,
		}, request[foo, fooList]{
			name: "update scale",
			call: func(ctx context.Context, c verbs[foo, fooList]) (any, error) {
				return c.(clientset.FooInterface).UpdateScale(ctx, "one", scale, metav1.UpdateOptions{FieldManager: "me"})
			},
			method: "PUT", path: foos.item + "/scale", query: "fieldManager=me", contentType: "application/json", body: scaleWire,
			reply: scaleWire, want: scale,
		})
	})
}

// request is a row of the table: a call, what it must send, and what it must make
// of the reply.
type request[T, L any] struct {
	name, reason             string
	everywhere               bool // with the client for all namespaces, not for shop
	call                     func(ctx context.Context, c verbs[T, L]) (any, error)
	method, path, query      string
	contentType, body, reply string
	want                     any
}

func requests[T, L any](r resource[T, L]) []request[T, L] {
	const (
		json     = "application/json"
		success  = `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`
		mergeDoc = `{"spec": {"replicas": 5}}`
	)
	// A DELETE always has a body, which names the kind of the options.
	deleteOptions := func(fields string) string {
		return `{"apiVersion": "` + r.groupVersion + `", "kind": "DeleteOptions"` + fields + `}`
	}

	return []request[T, L]{{
		name: "create",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Create(ctx, r.object, metav1.CreateOptions{})
		},
		method: "POST", path: r.collection, contentType: json, body: r.objectWire,
		reply: r.objectWire, want: r.object,
	}, {
		name: "create with options",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Create(ctx, r.object, metav1.CreateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Strict"})
		},
		method: "POST", path: r.collection, query: "dryRun=All&fieldManager=me&fieldValidation=Strict", contentType: json, body: r.objectWire,
		reply: r.objectWire, want: r.object,
	}, {
		name: "update",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Update(ctx, r.object, metav1.UpdateOptions{})
		},
		method: "PUT", path: r.item, contentType: json, body: r.objectWire,
		reply: r.objectWire, want: r.object,
	}, {
		name: "update with options",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Update(ctx, r.object, metav1.UpdateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Warn"})
		},
		method: "PUT", path: r.item, query: "dryRun=All&fieldManager=me&fieldValidation=Warn", contentType: json, body: r.objectWire,
		reply: r.objectWire, want: r.object,
	}, {
		name: "delete",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return nil, c.Delete(ctx, "one", metav1.DeleteOptions{})
		},
		method: "DELETE", path: r.item, contentType: json, body: deleteOptions(""),
		reply: success,
	}, {
		name:   "delete with options",
		reason: "preconditions travel in the body only; without them a successor of the same name is deleted",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return nil, c.Delete(ctx, "one", metav1.DeleteOptions{
				PropagationPolicy: new(metav1.DeletePropagationForeground),
				Preconditions:     &metav1.Preconditions{UID: new(types.UID("abc")), ResourceVersion: new("7")},
				DryRun:            []string{"All"},
			})
		},
		method: "DELETE", path: r.item, contentType: json,
		body:  deleteOptions(`, "propagationPolicy": "Foreground", "preconditions": {"uid": "abc", "resourceVersion": "7"}, "dryRun": ["All"]`),
		reply: success,
	}, {
		name: "delete collection",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return nil, c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		},
		method: "DELETE", path: r.collection, contentType: json, body: deleteOptions(""),
		reply: success,
	}, {
		name:   "delete collection with options",
		reason: "without the selector in the query it deletes everything in the namespace",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return nil, c.DeleteCollection(ctx,
				metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)},
				metav1.ListOptions{LabelSelector: "app=web", TimeoutSeconds: new(int64(30))})
		},
		method: "DELETE", path: r.collection, query: "labelSelector=app%3Dweb&timeoutSeconds=30&timeout=30s",
		contentType: json, body: deleteOptions(`, "propagationPolicy": "Orphan"`),
		reply: success,
	}, {
		name: "get",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Get(ctx, "one", metav1.GetOptions{})
		},
		method: "GET", path: r.item,
		reply: r.objectWire, want: r.object,
	}, {
		name:   "get a name that needs escaping",
		reason: "no object has such a name, and no other URL may be asked for it",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Get(ctx, "one two?a=b#ü", metav1.GetOptions{})
		},
		method: "GET", path: r.collection + "/one%20two%3Fa=b%23%C3%BC",
		reply: r.objectWire, want: r.object,
	}, {
		name: "get with options",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Get(ctx, "one", metav1.GetOptions{ResourceVersion: "5"})
		},
		method: "GET", path: r.item, query: "resourceVersion=5",
		reply: r.objectWire, want: r.object,
	}, {
		name: "list in one namespace",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.List(ctx, metav1.ListOptions{})
		},
		method: "GET", path: r.collection,
		reply: r.listWire, want: r.list,
	}, {
		name:       "list in all namespaces",
		everywhere: true,
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.List(ctx, metav1.ListOptions{})
		},
		method: "GET", path: r.everywhere,
		reply: r.listWire, want: r.list,
	}, {
		name:   "list with options",
		reason: "timeoutSeconds is what the server keeps to; timeout is added by the REST client, which itself waits no longer",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.List(ctx, metav1.ListOptions{
				LabelSelector:        "app=web",
				FieldSelector:        "metadata.name=one",
				ResourceVersion:      "5",
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				Limit:                2,
				Continue:             "more",
				TimeoutSeconds:       new(int64(30)),
			})
		},
		method: "GET", path: r.collection,
		query: "labelSelector=app%3Dweb&fieldSelector=metadata.name%3Done&resourceVersion=5&resourceVersionMatch=NotOlderThan" +
			"&limit=2&continue=more&timeoutSeconds=30&timeout=30s",
		reply: r.listWire, want: r.list,
	}, {
		name:   "watch in one namespace",
		reason: "the caller need not set opts.Watch: without watch=true this is a list",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return firstObject(c.Watch(ctx, metav1.ListOptions{}))
		},
		method: "GET", path: r.collection, query: "watch=true",
		reply: `{"type": "ADDED", "object": ` + r.objectWire + `}`, want: r.object,
	}, {
		name:       "watch in all namespaces",
		everywhere: true,
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return firstObject(c.Watch(ctx, metav1.ListOptions{}))
		},
		method: "GET", path: r.everywhere, query: "watch=true",
		reply: `{"type": "ADDED", "object": ` + r.objectWire + `}`, want: r.object,
	}, {
		name: "watch with options",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return firstObject(c.Watch(ctx, metav1.ListOptions{
				LabelSelector:       "app=web",
				FieldSelector:       "metadata.name=one",
				ResourceVersion:     "5",
				AllowWatchBookmarks: true,
				TimeoutSeconds:      new(int64(30)),
			}))
		},
		method: "GET", path: r.collection,
		query: "watch=true&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Done&resourceVersion=5&allowWatchBookmarks=true" +
			"&timeoutSeconds=30&timeout=30s",
		reply: `{"type": "ADDED", "object": ` + r.objectWire + `}`, want: r.object,
	}, {
		name:   "watch as a streaming list",
		reason: "this is how a Reflector asks for its first list",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return firstObject(c.Watch(ctx, metav1.ListOptions{
				SendInitialEvents:    new(true),
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				AllowWatchBookmarks:  true,
			}))
		},
		method: "GET", path: r.collection,
		query: "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		reply: `{"type": "ADDED", "object": ` + r.objectWire + `}`, want: r.object,
	}, {
		name: "merge patch",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Patch(ctx, "one", types.MergePatchType, []byte(mergeDoc), metav1.PatchOptions{})
		},
		method: "PATCH", path: r.item, contentType: "application/merge-patch+json", body: mergeDoc,
		reply: r.objectWire, want: r.object,
	}, {
		name: "JSON patch of a subresource",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Patch(ctx, "one", types.JSONPatchType, []byte(`[{"op": "remove", "path": "/status"}]`), metav1.PatchOptions{}, "status")
		},
		method: "PATCH", path: r.item + "/status", contentType: "application/json-patch+json", body: `[{"op": "remove", "path": "/status"}]`,
		reply: r.objectWire, want: r.object,
	}, {
		name:   "server-side apply",
		reason: "an apply is a patch whose content type says so; force takes fields from other managers",
		call: func(ctx context.Context, c verbs[T, L]) (any, error) {
			return c.Patch(ctx, "one", types.ApplyPatchType, []byte(r.objectWire), metav1.PatchOptions{
				Force: new(true), DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Ignore",
			})
		},
		method: "PATCH", path: r.item, query: "force=true&dryRun=All&fieldManager=me&fieldValidation=Ignore",
		contentType: "application/apply-patch+yaml", body: r.objectWire,
		reply: r.objectWire, want: r.object,
	}}
}

func testRequests[T, L any](t *testing.T, r resource[T, L], more ...request[T, L]) {
	for _, want := range append(requests(r), more...) {
		t.Run(want.name, func(t *testing.T) {
			var count int
			client := newClient(t, serve(t, func(w http.ResponseWriter, got *http.Request) {
				count++
				if got.Method != want.method || got.URL.EscapedPath() != want.path {
					t.Errorf("unknown request: %s %s\nwant             %s %s\n%s", got.Method, got.URL.EscapedPath(), want.method, want.path, want.reason)
				}
				wantQuery, err := url.ParseQuery(want.query)
				if err != nil {
					t.Errorf("the row's query: %v", err)
				}
				if diff := cmp.Diff(wantQuery, got.URL.Query()); diff != "" {
					t.Errorf("query (-want +got):\n%s\n%s", diff, want.reason)
				}
				if contentType := got.Header.Get("Content-Type"); contentType != want.contentType {
					t.Errorf("content type %q, want %q\n%s", contentType, want.contentType, want.reason)
				}
				if accept := got.Header.Get("Accept"); !strings.HasPrefix(accept, "application/json") {
					t.Errorf("accepts %q, want JSON: custom resources have no other form", accept)
				}
				body, err := io.ReadAll(got.Body)
				if err != nil {
					t.Errorf("read the body: %v", err)
				}
				if diff := cmp.Diff(decode(t, want.body), decode(t, string(body))); diff != "" {
					t.Errorf("body (-want +got):\n%s\n%s", diff, want.reason)
				}
				reply(w, http.StatusOK, want.reply)
			}))

			var namespace string
			if !want.everywhere {
				namespace = "shop"
			}
			got, err := want.call(t.Context(), r.in(client, namespace))
			if err != nil {
				t.Fatalf("%v\n%s", err, want.reason)
			}
			if count != 1 {
				t.Errorf("%d requests, want 1", count)
			}
			if diff := cmp.Diff(want.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s\n%s", diff, want.reason)
			}
		})
	}
}

// TestSchemeKnowsObjectsAndLists proves that apiVersion and kind alone lead to the
// right Go type. A List does not prove it: its caller hands in the type.
func TestSchemeKnowsObjectsAndLists(t *testing.T) {
	for wire, want := range map[string]runtime.Object{
		projects.objectWire: projects.object,
		projects.listWire:   projects.list,
		foos.objectWire:     foos.object,
		foos.listWire:       foos.list,
	} {
		got, _, err := clientset.Codecs.UniversalDeserializer().Decode([]byte(wire), nil, nil)
		if err != nil {
			t.Error(err)
		} else if reflect.TypeOf(got) != reflect.TypeOf(want) {
			t.Errorf("%s\nbecame a %T, want %T", wire, got, want)
		}
	}
}

// TestUserAgent proves that audit logs name the program: as the caller wants, or
// else after the executable.
func TestUserAgent(t *testing.T) {
	for _, test := range []struct{ name, userAgent, want string }{
		{name: "the caller's own is kept", userAgent: "shop/1.0", want: "shop/1.0"},
		{name: "there is a default", want: rest.DefaultKubernetesUserAgent()},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got string
			config := serve(t, func(w http.ResponseWriter, r *http.Request) {
				got = r.UserAgent()
				reply(w, http.StatusOK, projects.objectWire)
			})
			config.UserAgent = test.userAgent
			if _, err := newClient(t, config).ExamplesV1alpha1().Projects("shop").Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("User-Agent %q, want %q", got, test.want)
			}
		})
	}
}

// TestNewForConfigLeavesConfigAlone proves that one *rest.Config can serve many
// clients: what ours needs (base path, codec, rate limiter) goes into a copy.
func TestNewForConfigLeavesConfigAlone(t *testing.T) {
	config := &rest.Config{Host: "https://example.com", QPS: 5, Burst: 10}
	before := rest.CopyConfig(config)
	newClient(t, config)
	if !reflect.DeepEqual(before, config) {
		t.Errorf("before %v\nafter  %v", before, config)
	}
}

// TestGroupsShareOneRateLimiter proves that QPS limits the clientset as a whole,
// not each group for itself.
func TestGroupsShareOneRateLimiter(t *testing.T) {
	client := newClient(t, &rest.Config{Host: "https://example.com", QPS: 5, Burst: 10})
	examples := client.ExamplesV1alpha1().RESTClient().GetRateLimiter()
	samplecontroller := client.SamplecontrollerV1alpha1().RESTClient().GetRateLimiter()
	if examples == nil || examples != samplecontroller {
		t.Errorf("two rate limiters: %v and %v", examples, samplecontroller)
	}
}

// serve starts an HTTP server for the length of the test and returns what a client
// needs to reach it.
func serve(t *testing.T, handle http.HandlerFunc) *rest.Config {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(func() {
		// Close waits for requests that still run; this ends them.
		server.CloseClientConnections()
		server.Close()
	})
	return &rest.Config{Host: server.URL, QPS: -1}
}

func newClient(t *testing.T, config *rest.Config) *clientset.Clientset {
	t.Helper()
	client, err := clientset.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// reply answers with JSON.
func reply(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	io.WriteString(w, body)
}

// decode turns JSON into maps, in which the order of fields plays no role, and no
// body into nil.
func decode(t *testing.T, body string) any {
	t.Helper()
	if body == "" {
		return nil
	}
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Errorf("body %q: %v", body, err)
	}
	return value
}

// firstObject returns the object of a watch's first event, nil if there is none.
func firstObject(w watch.Interface, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	event := <-w.ResultChan()
	return event.Object, nil
}
