package webhook_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/chapters/internal/webhook"
)

// What is registered is looked at every Period, after an error too, until the program ends. One that cannot
// register at its start says so and ends.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*webhook.Period+time.Second)
		defer cancel()
		var calls []bool
		err := webhook.Keep(ctx, func(_ context.Context, first bool) error {
			calls = append(calls, first)
			if len(calls) == 2 {
				return errors.New("no API server")
			}
			return nil
		})
		if diff := cmp.Diff([]bool{true, false, false, false}, calls); diff != "" || err != nil {
			t.Errorf("%v, install is called (-want +got):\n%s", err, diff)
		}
		refused := errors.New("forbidden")
		if err := webhook.Keep(t.Context(), func(context.Context, bool) error { return refused }); err != refused {
			t.Errorf("%v, want %v", err, refused)
		}
	})
}

// newObject returns one whose API server expects these requests.
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

// is the object as a process has written it, "" for nobody.
func is(process string) string {
	if process != "" {
		process = `"annotations":{"byhand/process":"` + process + `"},`
	}
	return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{` + process + `"name":"a","resourceVersion":"7"}}`
}

// What was deleted is written again, what this process has written is restored, and another
// process is left alone, except at the start.
func TestInstall(t *testing.T) {
	const anew = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"annotations":{"byhand/process":"me"},"name":"a"}}`
	gone := chaptertest.Exchange{Request: "GET" + path, Code: 404, Answer: chaptertest.Status(404, "NotFound")}
	create := chaptertest.Exchange{Request: "POST /apis/example.com/v1/things " + anew, Code: 201, Answer: is("me")}
	taken := chaptertest.Exchange{Request: create.Request, Code: 409, Answer: chaptertest.Status(409, "AlreadyExists")}
	finds := func(object string) chaptertest.Exchange {
		return chaptertest.Exchange{Request: "GET" + path, Code: 200, Answer: object}
	}
	update := chaptertest.Exchange{Request: "PUT" + path + " " + is("me"), Code: 200, Answer: is("me")}
	refused := chaptertest.Exchange{Request: update.Request, Code: 409, Answer: chaptertest.Status(409, "Conflict")}
	for _, test := range []struct {
		reason    string
		first     bool
		exchanges []chaptertest.Exchange
		want      error
	}{
		{"nothing at the start", true, []chaptertest.Exchange{gone, create}, nil},
		{"another process's at the start", true, []chaptertest.Exchange{finds(is("other")), update}, nil},
		{"both start", true, []chaptertest.Exchange{gone, taken, finds(is("other")), refused, finds(is("other")), update}, nil},
		{"deleted", false, []chaptertest.Exchange{gone, create}, nil},
		{"this process's", false, []chaptertest.Exchange{finds(is("me")), update}, nil},
		{"nobody's", false, []chaptertest.Exchange{finds(is("")), update}, nil},
		{"others have added to it", false, []chaptertest.Exchange{finds(strings.Replace(is("me"), `}}`, `},"spec":"more"}`, 1)), update}, nil},
		{"another process's", false, []chaptertest.Exchange{finds(is("other"))}, webhook.ErrTaken},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if err := newObject(t, test.exchanges...).Install(t.Context(), test.first); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// Where the answer is another object, that one would be overwritten.
func TestInstallAnother(t *testing.T) {
	for _, answer := range []string{strings.Replace(is(""), `"name":"a"`, `"name":"b"`, 1), strings.Replace(is(""), "Thing", "Other", 1)} {
		err := newObject(t, chaptertest.Exchange{Request: "GET" + path, Code: 200, Answer: answer}).Install(t.Context(), true)
		if err == nil || !strings.Contains(err.Error(), "another object") {
			t.Errorf("%v after %s", err, answer)
		}
	}
}

// An API server elsewhere says that nothing answers. What it refuses for another reason has come
// through.
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

// The end of a process removes what it was the last to write, and nothing else.
func TestRemove(t *testing.T) {
	const remove = "DELETE" + path + ` {"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"7"}}`
	mine := chaptertest.Exchange{Request: "GET" + path, Code: 200, Answer: is("me")}
	others := chaptertest.Exchange{Request: "GET" + path, Code: 200, Answer: is("other")}
	for reason, exchanges := range map[string][]chaptertest.Exchange{
		"this process's":             {mine, {Request: remove, Code: 200, Answer: chaptertest.Status(200, "")}},
		"nobody's":                   {{Request: "GET" + path, Code: 200, Answer: is("")}, {Request: remove, Code: 200, Answer: chaptertest.Status(200, "")}},
		"another process's":          {others},
		"another one writes it now":  {mine, {Request: remove, Code: 409, Answer: chaptertest.Status(409, "Conflict")}, others},
		"another one deletes it now": {mine, {Request: remove, Code: 404, Answer: chaptertest.Status(404, "NotFound")}},
		"gone":                       {{Request: "GET" + path, Code: 404, Answer: chaptertest.Status(404, "NotFound")}},
	} {
		t.Run(reason, func(t *testing.T) {
			if err := newObject(t, exchanges...).Remove(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
