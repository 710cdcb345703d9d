package clientset_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/byhand/clientset"
)

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

// TestRequests drives every kind through every verb and proves what each call puts on
// the wire, to the letter, and what it makes of the reply.
func TestRequests(t *testing.T) { eachKind(t, kind.testRequests) }

// request is a row of the table: a call, what it must send, and what it must make
// of the reply.
type request[T, L, A any] struct {
	name, reason             string
	everywhere               bool // with the client for all namespaces, not for shop
	call                     func(ctx context.Context, c verbs[T, L, A]) (any, error)
	method, path, query      string
	contentType, body, reply string
	want                     any
}

func (r resource[T, L, A]) requests() []request[T, L, A] {
	const (
		json     = "application/json"
		success  = `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`
		mergeDoc = `{"spec": {"replicas": 5}}`
	)
	// A DELETE always has a body, which names the kind of the options.
	deleteOptions := func(fields string) string {
		return `{"apiVersion": "` + r.groupVersion + `", "kind": "DeleteOptions"` + fields + `}`
	}

	rows := []request[T, L, A]{{
		name: "create",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Create(ctx, r.object, metav1.CreateOptions{})
		},
		method: "POST", path: r.collection(), contentType: json, body: r.objectWire(),
		reply: r.objectWire(), want: r.object,
	}, {
		name: "create with options",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Create(ctx, r.object, metav1.CreateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Strict"})
		},
		method: "POST", path: r.collection(), query: "dryRun=All&fieldManager=me&fieldValidation=Strict", contentType: json, body: r.objectWire(),
		reply: r.objectWire(), want: r.object,
	}, {
		name: "update",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Update(ctx, r.object, metav1.UpdateOptions{})
		},
		method: "PUT", path: r.item(), contentType: json, body: r.objectWire(),
		reply: r.objectWire(), want: r.object,
	}, {
		name: "update with options",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Update(ctx, r.object, metav1.UpdateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Warn"})
		},
		method: "PUT", path: r.item(), query: "dryRun=All&fieldManager=me&fieldValidation=Warn", contentType: json, body: r.objectWire(),
		reply: r.objectWire(), want: r.object,
	}, {
		name: "delete",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return nil, c.Delete(ctx, "one", metav1.DeleteOptions{})
		},
		method: "DELETE", path: r.item(), contentType: json, body: deleteOptions(""),
		reply: success,
	}, {
		name:   "delete with options",
		reason: "preconditions travel in the body only; without them a successor of the same name is deleted",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return nil, c.Delete(ctx, "one", metav1.DeleteOptions{
				PropagationPolicy: new(metav1.DeletePropagationForeground),
				Preconditions:     &metav1.Preconditions{UID: new(types.UID("abc")), ResourceVersion: new("7")},
				DryRun:            []string{"All"},
			})
		},
		method: "DELETE", path: r.item(), contentType: json,
		body:  deleteOptions(`, "propagationPolicy": "Foreground", "preconditions": {"uid": "abc", "resourceVersion": "7"}, "dryRun": ["All"]`),
		reply: success,
	}, {
		name: "delete collection",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return nil, c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		},
		method: "DELETE", path: r.collection(), contentType: json, body: deleteOptions(""),
		reply: success,
	}, {
		name:   "delete collection with options",
		reason: "without the selector in the query it deletes everything in the namespace",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return nil, c.DeleteCollection(ctx,
				metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)},
				metav1.ListOptions{LabelSelector: "app=web", TimeoutSeconds: new(int64(30))})
		},
		method: "DELETE", path: r.collection(), query: "labelSelector=app%3Dweb&timeoutSeconds=30&timeout=30s",
		contentType: json, body: deleteOptions(`, "propagationPolicy": "Orphan"`),
		reply: success,
	}, {
		name: "get",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Get(ctx, "one", metav1.GetOptions{})
		},
		method: "GET", path: r.item(),
		reply: r.objectWire(), want: r.object,
	}, {
		name:   "get a name that needs escaping",
		reason: "no object has such a name, and no other URL may be asked for it",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Get(ctx, "one two?a=b#ü", metav1.GetOptions{})
		},
		method: "GET", path: r.collection() + "/one%20two%3Fa=b%23%C3%BC",
		reply: r.objectWire(), want: r.object,
	}, {
		name: "get with options",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Get(ctx, "one", metav1.GetOptions{ResourceVersion: "5"})
		},
		method: "GET", path: r.item(), query: "resourceVersion=5",
		reply: r.objectWire(), want: r.object,
	}, {
		name: "list",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.List(ctx, metav1.ListOptions{})
		},
		method: "GET", path: r.collection(),
		reply: r.listWire(), want: r.list,
	}, {
		name:       "list in all namespaces",
		everywhere: true,
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.List(ctx, metav1.ListOptions{})
		},
		method: "GET", path: r.everywhere(),
		reply: r.listWire(), want: r.list,
	}, {
		name:   "list with options",
		reason: "timeoutSeconds is what the server keeps to; timeout is added by the REST client, which itself waits no longer",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
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
		method: "GET", path: r.collection(),
		query: "labelSelector=app%3Dweb&fieldSelector=metadata.name%3Done&resourceVersion=5&resourceVersionMatch=NotOlderThan" +
			"&limit=2&continue=more&timeoutSeconds=30&timeout=30s",
		reply: r.listWire(), want: r.list,
	}, {
		name:   "watch",
		reason: "the caller need not set opts.Watch: without watch=true this is a list",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return firstObject(c.Watch(ctx, metav1.ListOptions{}))
		},
		method: "GET", path: r.collection(), query: "watch=true",
		reply: `{"type": "ADDED", "object": ` + r.objectWire() + `}`, want: r.object,
	}, {
		name:       "watch in all namespaces",
		everywhere: true,
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return firstObject(c.Watch(ctx, metav1.ListOptions{}))
		},
		method: "GET", path: r.everywhere(), query: "watch=true",
		reply: `{"type": "ADDED", "object": ` + r.objectWire() + `}`, want: r.object,
	}, {
		name: "watch with options",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return firstObject(c.Watch(ctx, metav1.ListOptions{
				LabelSelector:       "app=web",
				FieldSelector:       "metadata.name=one",
				ResourceVersion:     "5",
				AllowWatchBookmarks: true,
				TimeoutSeconds:      new(int64(30)),
			}))
		},
		method: "GET", path: r.collection(),
		query: "watch=true&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Done&resourceVersion=5&allowWatchBookmarks=true" +
			"&timeoutSeconds=30&timeout=30s",
		reply: `{"type": "ADDED", "object": ` + r.objectWire() + `}`, want: r.object,
	}, {
		name:   "watch as a streaming list",
		reason: "this is how a Reflector asks for its first list",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return firstObject(c.Watch(ctx, metav1.ListOptions{
				SendInitialEvents:    new(true),
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				AllowWatchBookmarks:  true,
			}))
		},
		method: "GET", path: r.collection(),
		query: "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		reply: `{"type": "ADDED", "object": ` + r.objectWire() + `}`, want: r.object,
	}, {
		name: "patch",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Patch(ctx, "one", types.MergePatchType, []byte(mergeDoc), metav1.PatchOptions{})
		},
		method: "PATCH", path: r.item(), contentType: "application/merge-patch+json", body: mergeDoc,
		reply: r.objectWire(), want: r.object,
	}, {
		name: "JSON patch of a subresource",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Patch(ctx, "one", types.JSONPatchType, []byte(`[{"op": "remove", "path": "/status"}]`), metav1.PatchOptions{}, "status")
		},
		method: "PATCH", path: r.item() + "/status", contentType: "application/json-patch+json", body: `[{"op": "remove", "path": "/status"}]`,
		reply: r.objectWire(), want: r.object,
	}, {
		name:   "server-side apply",
		reason: "an apply is a patch whose content type says so; force takes fields from other managers",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Patch(ctx, "one", types.ApplyPatchType, []byte(r.objectWire()), metav1.PatchOptions{
				Force: new(true), DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Ignore",
			})
		},
		method: "PATCH", path: r.item(), query: "force=true&dryRun=All&fieldManager=me&fieldValidation=Ignore",
		contentType: "application/apply-patch+yaml", body: r.objectWire(),
		reply: r.objectWire(), want: r.object,
	}, {
		name:   "apply",
		reason: "fields that were not set are not sent: a 0 would take replicas from its owner",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Apply(ctx, r.applied, metav1.ApplyOptions{FieldManager: "me"})
		},
		method: "PATCH", path: r.item(), query: "fieldManager=me&force=false", contentType: "application/apply-patch+yaml", body: r.appliedWire(),
		reply: r.objectWire(), want: r.object,
	}, {
		name: "apply with options",
		call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
			return c.Apply(ctx, r.applied, metav1.ApplyOptions{FieldManager: "me", Force: true, DryRun: []string{"All"}})
		},
		method: "PATCH", path: r.item(), query: "fieldManager=me&force=true&dryRun=All", contentType: "application/apply-patch+yaml", body: r.appliedWire(),
		reply: r.objectWire(), want: r.object,
	}}
	client := r.in(clientset.New(nil), "")
	if _, ok := client.(statusVerbs[T, A]); ok {
		rows = append(rows, request[T, L, A]{
			name:   "update status",
			reason: "the status has a URL of its own; an Update would be answered with 200 and change no status",
			call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
				return c.(statusVerbs[T, A]).UpdateStatus(ctx, r.object, metav1.UpdateOptions{FieldManager: "me"})
			},
			method: "PUT", path: r.item() + "/status", query: "fieldManager=me",
			contentType: json, body: r.objectWire(),
			reply: r.objectWire(), want: r.object,
		}, request[T, L, A]{
			name: "apply status",
			call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
				return c.(statusVerbs[T, A]).ApplyStatus(ctx, r.applied, metav1.ApplyOptions{FieldManager: "me"})
			},
			method: "PATCH", path: r.item() + "/status", query: "fieldManager=me&force=false", contentType: "application/apply-patch+yaml", body: r.appliedWire(),
			reply: r.objectWire(), want: r.object,
		})
	}
	if _, ok := client.(scaleVerbs); ok {
		rows = append(rows, request[T, L, A]{
			name: "get scale",
			call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
				return c.(scaleVerbs).GetScale(ctx, "one", metav1.GetOptions{ResourceVersion: "5"})
			},
			method: "GET", path: r.item() + "/scale", query: "resourceVersion=5",
			reply: scaleWire, want: scale,
		}, request[T, L, A]{
			name: "update scale",
			call: func(ctx context.Context, c verbs[T, L, A]) (any, error) {
				return c.(scaleVerbs).UpdateScale(ctx, "one", scale, metav1.UpdateOptions{FieldManager: "me"})
			},
			method: "PUT", path: r.item() + "/scale", query: "fieldManager=me", contentType: json, body: scaleWire,
			reply: scaleWire, want: scale,
		})
	}
	return rows
}

func (r resource[T, L, A]) testRequests(t *testing.T) {
	rows := r.requests()
	methods := reflect.TypeOf(r.in(newClient(t, serve(t, nil)), "shop"))
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if !slices.ContainsFunc(rows, func(row request[T, L, A]) bool { return strings.EqualFold(strings.ReplaceAll(row.name, " ", ""), name) }) {
			t.Errorf("%s of %s has no row", name, r.plural)
		}
	}
	for _, want := range rows {
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
				reply(w, http.StatusOK, projects.objectWire())
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
	client := reflect.ValueOf(newClient(t, &rest.Config{Host: "https://example.com", QPS: 5, Burst: 10}))
	limiters := map[flowcontrol.RateLimiter][]string{}
	for i := range client.NumMethod() {
		if group, ok := client.Method(i).Call(nil)[0].Interface().(interface{ RESTClient() rest.Interface }); ok {
			limiter := group.RESTClient().GetRateLimiter()
			limiters[limiter] = append(limiters[limiter], client.Type().Method(i).Name)
		}
	}
	if len(limiters) != 1 || limiters[nil] != nil {
		t.Errorf("the groups by rate limiter: %v, want one for all", limiters)
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
