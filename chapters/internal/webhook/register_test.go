package webhook_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/chapters/internal/webhook"
)

// newObject returns an object whose API server expects these requests.
func newObject(t *testing.T, exchanges ...chaptertest.Exchange) webhook.Object {
	t.Helper()
	things := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	return webhook.Object{
		Client: dynamic.NewForConfigOrDie(chaptertest.Expect(t, exchanges...)).Resource(things),
		Want: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}}},
		Process: "me",
	}
}

const path = " /apis/example.com/v1/things/a"

// is returns the object as written by a process.
func is(process string) string {
	return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"annotations":{"byhand/process":"` + process + `"},"name":"a","resourceVersion":"7"}}`
}

// TestInstall: an existing object is replaced, even if another process writes it at the same time.
func TestInstall(t *testing.T) {
	const anew = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"annotations":{"byhand/process":"me"},"name":"a"}}`
	gone := chaptertest.Exchange{Request: "GET" + path, Code: 404, Answer: chaptertest.Status(404, "NotFound")}
	create := chaptertest.Exchange{Request: "POST /apis/example.com/v1/things " + anew, Code: 201, Answer: is("me")}
	taken := chaptertest.Exchange{Request: create.Request, Code: 409, Answer: chaptertest.Status(409, "AlreadyExists")}
	others := chaptertest.Exchange{Request: "GET" + path, Code: 200, Answer: is("other")}
	update := chaptertest.Exchange{Request: "PUT" + path + " " + is("me"), Code: 200, Answer: is("me")}
	refused := chaptertest.Exchange{Request: update.Request, Code: 409, Answer: chaptertest.Status(409, "Conflict")}
	for reason, exchanges := range map[string][]chaptertest.Exchange{
		"nothing is there":  {gone, create},
		"another process's": {others, update},
		"both start":        {gone, taken, others, refused, others, update},
	} {
		t.Run(reason, func(t *testing.T) {
			if err := newObject(t, exchanges...).Install(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReached: an API server on another machine reports a failed call. Any other error shows that it
// reached the process.
func TestReached(t *testing.T) {
	for message, want := range map[string]bool{
		`failed calling webhook \"a.b.c\": failed to call webhook: Post \"https://127.0.0.1:1/mutate?timeout=5s\": dial tcp 127.0.0.1:1: connect: connection refused`: false,
		`conversion webhook for a/v1, Kind=B failed: Post \"https://127.0.0.1:1/convert?timeout=30s\": dial tcp 127.0.0.1:1: connect: connection refused`:             false,
		`admission webhook \"a.b.c\" denied the request: no`: true,
		`pizzas is forbidden: User \"a\" cannot create it`:   true,
	} {
		answer := strings.Replace(chaptertest.Status(500, "InternalError"), "refused", message, 1)
		client, err := discovery.NewDiscoveryClientForConfig(chaptertest.Expect(t, chaptertest.Exchange{Request: "POST /apis/a?dryRun=All", Code: 500, Answer: answer}))
		if err != nil {
			t.Fatal(err)
		}
		if err := webhook.Reached(t.Context(), client.RESTClient().Post().AbsPath("/apis/a")); (err == nil) != want {
			t.Errorf("%s: %v", message, err)
		}
	}
}

// TestRemove: at its exit a process removes the object only if it was the last to write it.
func TestRemove(t *testing.T) {
	const remove = "DELETE" + path + ` {"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"7"}}`
	mine := chaptertest.Exchange{Request: "GET" + path, Code: 200, Answer: is("me")}
	others := chaptertest.Exchange{Request: "GET" + path, Code: 200, Answer: is("other")}
	for reason, exchanges := range map[string][]chaptertest.Exchange{
		"this process's":                {mine, {Request: remove, Code: 200, Answer: chaptertest.Status(200, "")}},
		"another process's":             {others},
		"another process writes it now": {mine, {Request: remove, Code: 409, Answer: chaptertest.Status(409, "Conflict")}, others},
		"gone":                          {{Request: "GET" + path, Code: 404, Answer: chaptertest.Status(404, "NotFound")}},
	} {
		t.Run(reason, func(t *testing.T) {
			if err := newObject(t, exchanges...).Remove(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
