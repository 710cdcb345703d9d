package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

const path = "/api/v1/namespaces/default/secrets/"

// server has ten Secrets, s0 to s9. s0 is empty, with the wanted label and type; the others have 192 KiB.
func server() *testkit.APIServer {
	s := tests.NewAPIServer()
	s.Add(path+"s0", wanted())
	for i := range 9 {
		s.Add(fmt.Sprint(path, "s", i+1), &unstructured.Unstructured{Object: map[string]any{"type": "Opaque", "data": map[string]any{"data": strings.Repeat("AAAA", 1<<16)}}})
	}
	return s
}

func wanted() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"type": "example.com/wanted", "metadata": map[string]any{"labels": map[string]any{"cache": "wanted"}}}}
}

func wayOf(name string) way {
	return ways[slices.IndexFunc(ways, func(w way) bool { return w.name == name })]
}

// follow returns when a way's cache has synced. Each later event is a line.
func follow(t *testing.T, s *testkit.APIServer, name string, o options) *bufio.Scanner {
	o.events = max(o.events, 1)
	lines, out := io.Pipe()
	go func() {
		_, err := measure(t.Context(), s.Config(), wayOf(name), o, out)
		_ = out.CloseWithError(err)
	}()
	heard := bufio.NewScanner(lines)
	if !heard.Scan() {
		t.Fatal(heard.Err())
	}
	return heard
}

// TestWays checks each way's requests, its content, and the calls of its handler.
func TestWays(t *testing.T) {
	s := server()
	s.AddNamespace("elsewhere")
	s.Add("/api/v1/namespaces/elsewhere/secrets/t0", s.Get(path+"s1").DeepCopy())
	shard, _ := parseShard("1,2/3")
	o := options{namespace: "default", label: "cache=wanted", field: "type=example.com/wanted", secret: "s0", shard: shard}
	mine := 0
	for _, secret := range s.List("secrets") {
		if has(shard, secret) {
			mine++
		}
	}
	for _, w := range ways {
		objects, events, lists := 11, 11, w.name == "pages" || w.name == "shard"
		switch w.name {
		case "namespace":
			objects, events = 10, 10
		case "name", "label", "field":
			objects, events = 1, 1
		case "handler", "shard": // this server lacks the gate: it sends everything
			events = mine
		case "metadata", "selectable", "get": // this server does not support them: see TestReadme
			continue
		}
		s.Forget()
		s.Intercept(func(_ http.ResponseWriter, r *http.Request) (noAnswer bool) {
			return w.name == "json" && strings.Contains(r.Header.Get("Accept"), "protobuf") || w.name == "pages" && r.URL.Query().Get("resourceVersion") == "0"
		})
		r, err := measure(t.Context(), s.Config(), w, o, io.Discard)
		if err != nil || s.Log()[0].Watch == lists || r.objects != objects || r.events != events || r.bytes == 0 || (r.heap > 3<<19) != (objects > 1 && w.name != "transform") {
			t.Errorf("%s: %+v, %v, want %d objects, %d events, a list first: %t, and for most ways more than 1.5 MiB", w.name, r, err, objects, events, lists)
		}
	}
	if _, err := measure(t.Context(), s.Config(), wayOf("field"), options{field: "data=x"}, io.Discard); err == nil || !strings.Contains(err.Error(), "field label not supported") {
		t.Errorf("a field that cannot be selected: %v", err)
	}
}

// TestLiveGet: a live Get of one Secret is one request, and caches nothing.
func TestLiveGet(t *testing.T) {
	s := server()
	if _, err := measure(t.Context(), s.Config(), wayOf("get"), options{namespace: "default", secret: "s1"}, io.Discard); err != nil || len(s.Log()) != 1 || s.Requests()[0] != "GET secrets/s1" {
		t.Errorf("%v, %v, want one GET", err, s.Log())
	}
}

// TestNoRightToList: without permission to list, the program exits and says why.
func TestNoRightToList(t *testing.T) {
	s := server()
	s.Refuse(func(*http.Request) *apierrors.StatusError {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", fmt.Errorf(`User "u" cannot list`))
	})
	informer := wayOf("everything").informer(s.Config(), options{})
	refused := make(chan error, 100)
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { refused <- err })
	go informer.RunWithContext(t.Context())
	<-refused
	if _, found, err := informer.GetStore().GetByKey("default/s1"); found || err != nil || informer.HasSynced() {
		t.Errorf("found %t, %v, in sync %t: want no object, no error, and never in sync", found, err, informer.HasSynced())
	}
	if _, err := measure(t.Context(), s.Config(), wayOf("everything"), options{}, io.Discard); !apierrors.IsForbidden(err) {
		t.Errorf("the program: %v, want the Forbidden error", err)
	}
}

// TestLeavesTheSelector: an object that leaves the selector is DELETED in the watch, but exists.
func TestLeavesTheSelector(t *testing.T) {
	s := server()
	heard := follow(t, s, "label", options{label: "cache=wanted"})
	s.Edit(path+"s0", func(secret *unstructured.Unstructured) { secret.SetLabels(nil) })
	if heard.Scan(); heard.Text() != "label: DELETED default/s0" {
		t.Error(heard.Text())
	}
	if left := s.Get(path + "s0"); left == nil || left.GetDeletionTimestamp() != nil {
		t.Errorf("the server has %v, want the Secret", left)
	}
}

// TestTwoInformers: two informers on one resource are two streams. Use one, with two handlers.
func TestTwoInformers(t *testing.T) {
	s := server()
	follow(t, s, "everything", options{})
	follow(t, s, "everything", options{})
	if got := len(s.Log()); got != 2 {
		t.Errorf("%d streams, want 2", got)
	}
}

// TestLabelIsNoBoundary: a user who can create an object anywhere can set the label. A namespace is a
// boundary (TestWays).
func TestLabelIsNoBoundary(t *testing.T) {
	s := server()
	s.AddNamespace("stranger")
	heard := follow(t, s, "label", options{label: "cache=wanted"})
	s.Add("/api/v1/namespaces/stranger/secrets/trap\x1b", wanted())
	if heard.Scan(); heard.Text() != `label: ADDED stranger/trap\x1b` {
		t.Error(heard.Text())
	}
}
