package clientset_test

import (
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit/samples"
)

// TestRequests drives every kind through every verb and proves what each call puts on
// the wire, to the letter, and what it makes of the reply.
func TestRequests(t *testing.T) { eachKind(t, testRequests) }

// request is a row of the table: a call, what it must send, and what it must make
// of the reply. Without a reply in the row, that is the object.
type request struct {
	name, reason      string
	everywhere        bool // with the client for all namespaces, not for shop
	method            string
	arguments         []any
	verb, path, query string
	contentType, body string
	reply             string
	want              any
}

func with(arguments ...any) []any { return arguments }

func (k kind) requests(client any) []request {
	const (
		json     = "application/json"
		success  = `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`
		mergeDoc = `{"spec": {"replicas": 5}}`
	)
	object, event := k.objectWire(), `{"type": "ADDED", "object": `+k.objectWire()+`}`
	// A DELETE always has a body, which names the kind of the options.
	deleteOptions := func(fields string) string {
		return `{"apiVersion": "` + k.GroupVersion().String() + `", "kind": "DeleteOptions"` + fields + `}`
	}

	rows := []request{{
		name:   "create",
		method: "Create", arguments: with(k.Object, metav1.CreateOptions{}),
		verb: "POST", path: k.collection(), contentType: json, body: object,
	}, {
		name:   "create with options",
		method: "Create", arguments: with(k.Object, metav1.CreateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Strict"}),
		verb: "POST", path: k.collection(), query: "dryRun=All&fieldManager=me&fieldValidation=Strict", contentType: json, body: object,
	}, {
		name:   "update",
		method: "Update", arguments: with(k.Object, metav1.UpdateOptions{}),
		verb: "PUT", path: k.item(), contentType: json, body: object,
	}, {
		name:   "update with options",
		method: "Update", arguments: with(k.Object, metav1.UpdateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Warn"}),
		verb: "PUT", path: k.item(), query: "dryRun=All&fieldManager=me&fieldValidation=Warn", contentType: json, body: object,
	}, {
		name:   "delete",
		method: "Delete", arguments: with("one", metav1.DeleteOptions{}),
		verb: "DELETE", path: k.item(), contentType: json, body: deleteOptions(""),
		reply: success,
	}, {
		name:   "delete with options",
		reason: "preconditions travel in the body only; without them a successor of the same name is deleted",
		method: "Delete", arguments: with("one", metav1.DeleteOptions{
			PropagationPolicy: new(metav1.DeletePropagationForeground),
			Preconditions:     &metav1.Preconditions{UID: new(types.UID("abc")), ResourceVersion: new("7")},
			DryRun:            []string{"All"},
		}),
		verb: "DELETE", path: k.item(), contentType: json,
		body:  deleteOptions(`, "propagationPolicy": "Foreground", "preconditions": {"uid": "abc", "resourceVersion": "7"}, "dryRun": ["All"]`),
		reply: success,
	}, {
		name:   "delete collection",
		method: "DeleteCollection", arguments: with(metav1.DeleteOptions{}, metav1.ListOptions{}),
		verb: "DELETE", path: k.collection(), contentType: json, body: deleteOptions(""),
		reply: success,
	}, {
		name:   "delete collection with options",
		reason: "without the selector in the query it deletes everything in the namespace",
		method: "DeleteCollection", arguments: with(
			metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)},
			metav1.ListOptions{LabelSelector: "app=web", TimeoutSeconds: new(int64(30))}),
		verb: "DELETE", path: k.collection(), query: "labelSelector=app%3Dweb&timeoutSeconds=30&timeout=30s",
		contentType: json, body: deleteOptions(`, "propagationPolicy": "Orphan"`),
		reply: success,
	}, {
		name:   "get",
		method: "Get", arguments: with("one", metav1.GetOptions{}),
		verb: "GET", path: k.item(),
	}, {
		name:   "get a name that needs escaping",
		reason: "no object has such a name, and no other URL may be asked for it",
		method: "Get", arguments: with("one two?a=b#ü", metav1.GetOptions{}),
		verb: "GET", path: k.collection() + "/one%20two%3Fa=b%23%C3%BC",
	}, {
		name:   "get with options",
		method: "Get", arguments: with("one", metav1.GetOptions{ResourceVersion: "5"}),
		verb: "GET", path: k.item(), query: "resourceVersion=5",
	}, {
		name:   "list",
		method: "List", arguments: with(metav1.ListOptions{}),
		verb: "GET", path: k.collection(),
		reply: k.listWire(), want: k.List,
	}, {
		name:       "list in all namespaces",
		everywhere: true,
		method:     "List", arguments: with(metav1.ListOptions{}),
		verb: "GET", path: k.everywhere(),
		reply: k.listWire(), want: k.List,
	}, {
		name:   "list with options",
		reason: "timeoutSeconds is what the server keeps to; timeout is added by the REST client, which itself waits no longer",
		method: "List", arguments: with(metav1.ListOptions{
			LabelSelector:        "app=web",
			FieldSelector:        "metadata.name=one",
			ResourceVersion:      "5",
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			Limit:                2,
			Continue:             "more",
			TimeoutSeconds:       new(int64(30)),
		}),
		verb: "GET", path: k.collection(),
		query: "labelSelector=app%3Dweb&fieldSelector=metadata.name%3Done&resourceVersion=5&resourceVersionMatch=NotOlderThan" +
			"&limit=2&continue=more&timeoutSeconds=30&timeout=30s",
		reply: k.listWire(), want: k.List,
	}, {
		name:   "watch",
		reason: "the caller need not set opts.Watch: without watch=true this is a list",
		method: "Watch", arguments: with(metav1.ListOptions{}),
		verb: "GET", path: k.collection(), query: "watch=true",
		reply: event, want: k.Object,
	}, {
		name:       "watch in all namespaces",
		everywhere: true,
		method:     "Watch", arguments: with(metav1.ListOptions{}),
		verb: "GET", path: k.everywhere(), query: "watch=true",
		reply: event, want: k.Object,
	}, {
		name:   "watch with options",
		method: "Watch", arguments: with(metav1.ListOptions{
			LabelSelector:       "app=web",
			FieldSelector:       "metadata.name=one",
			ResourceVersion:     "5",
			AllowWatchBookmarks: true,
			TimeoutSeconds:      new(int64(30)),
		}),
		verb: "GET", path: k.collection(),
		query: "watch=true&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Done&resourceVersion=5&allowWatchBookmarks=true" +
			"&timeoutSeconds=30&timeout=30s",
		reply: event, want: k.Object,
	}, {
		name:   "watch as a streaming list",
		reason: "this is how a Reflector asks for its first list",
		method: "Watch", arguments: with(metav1.ListOptions{
			SendInitialEvents:    new(true),
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			AllowWatchBookmarks:  true,
		}),
		verb: "GET", path: k.collection(),
		query: "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		reply: event, want: k.Object,
	}, {
		name:   "patch",
		method: "Patch", arguments: with("one", types.MergePatchType, []byte(mergeDoc), metav1.PatchOptions{}),
		verb: "PATCH", path: k.item(), contentType: "application/merge-patch+json", body: mergeDoc,
	}, {
		name:   "JSON patch of a subresource",
		method: "Patch", arguments: with("one", types.JSONPatchType, []byte(`[{"op": "remove", "path": "/status"}]`), metav1.PatchOptions{}, "status"),
		verb: "PATCH", path: k.item() + "/status", contentType: "application/json-patch+json", body: `[{"op": "remove", "path": "/status"}]`,
	}, {
		name:   "server-side apply",
		reason: "an apply is a patch whose content type says so; force takes fields from other managers",
		method: "Patch", arguments: with("one", types.ApplyPatchType, []byte(object), metav1.PatchOptions{
			Force: new(true), DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Ignore",
		}),
		verb: "PATCH", path: k.item(), query: "force=true&dryRun=All&fieldManager=me&fieldValidation=Ignore",
		contentType: "application/apply-patch+yaml", body: object,
	}, {
		name:   "apply",
		reason: "fields that were not set are not sent: a 0 would take replicas from its owner",
		method: "Apply", arguments: with(k.Applied, metav1.ApplyOptions{FieldManager: "me"}),
		verb: "PATCH", path: k.item(), query: "fieldManager=me&force=false", contentType: "application/apply-patch+yaml", body: k.appliedWire(),
	}, {
		name:   "apply with options",
		method: "Apply", arguments: with(k.Applied, metav1.ApplyOptions{FieldManager: "me", Force: true, DryRun: []string{"All"}}),
		verb: "PATCH", path: k.item(), query: "fieldManager=me&force=true&dryRun=All", contentType: "application/apply-patch+yaml", body: k.appliedWire(),
	}}
	if samples.Has(client, "UpdateStatus") {
		rows = append(rows, request{
			name:   "update status",
			reason: "the status has a URL of its own; an Update would be answered with 200 and change no status",
			method: "UpdateStatus", arguments: with(k.Object, metav1.UpdateOptions{FieldManager: "me"}),
			verb: "PUT", path: k.item() + "/status", query: "fieldManager=me", contentType: json, body: object,
		}, request{
			name:   "apply status",
			method: "ApplyStatus", arguments: with(k.Applied, metav1.ApplyOptions{FieldManager: "me"}),
			verb: "PATCH", path: k.item() + "/status", query: "fieldManager=me&force=false", contentType: "application/apply-patch+yaml", body: k.appliedWire(),
		})
	}
	return rows
}

func testRequests(t *testing.T, k kind) {
	client := k.Client(clientset.New(nil), "shop")
	rows := k.requests(client)
	for method := range reflect.TypeOf(client).Methods() {
		if !slices.ContainsFunc(rows, func(row request) bool { return row.method == method.Name }) {
			t.Errorf("%s of %s has no row", method.Name, k.Plural)
		}
	}
	for _, want := range rows {
		if want.reply == "" {
			want.reply, want.want = k.objectWire(), k.Object
		}
		t.Run(want.name, func(t *testing.T) {
			var count int
			client := newClient(t, serve(t, func(w http.ResponseWriter, got *http.Request) {
				count++
				if got.Method != want.verb || got.URL.EscapedPath() != want.path {
					t.Errorf("unknown request: %s %s\nwant             %s %s\n%s", got.Method, got.URL.EscapedPath(), want.verb, want.path, want.reason)
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
			got, err := samples.Call(t.Context(), k.Client(client, namespace), want.method, want.arguments...)
			if err != nil {
				t.Fatalf("%v\n%s", err, want.reason)
			}
			if count != 1 {
				t.Errorf("%d requests, want 1", count)
			}
			if stream, ok := got.(watch.Interface); ok {
				got = (<-stream.ResultChan()).Object
				stream.Stop()
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
				reply(w, http.StatusOK, kind{samples.Project}.objectWire())
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
