package story_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/story"
)

var clock = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{3}  `)

// told returns the lines of the story without their times, and fails the test if
// a line has none.
func told(t *testing.T, out *bytes.Buffer) []string {
	t.Helper()
	text := out.String()
	if lines := strings.Count(text, "\n"); len(clock.FindAllString(text, -1)) != lines {
		t.Errorf("not every line begins with a time:\n%s", text)
	}
	out.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(clock.ReplaceAllString(text, ""), "\n"), "\n")
}

func foo(version, description string) *v1alpha1.Foo {
	return &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo", ResourceVersion: version, Labels: map[string]string{"d": description}}}
}

// Each event reaches the next handler; a line is told for what a reader can see.
func TestHandler(t *testing.T) {
	var out bytes.Buffer
	var next []string
	handler := story.Handler(story.New(&out), "Foo", func(f *v1alpha1.Foo) string { return f.Labels["d"] },
		cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { next = append(next, "add") },
			UpdateFunc: func(_, _ any) { next = append(next, "update") },
			DeleteFunc: func(any) { next = append(next, "delete") },
		})
	for _, test := range []struct {
		reason string
		event  func()
		next   string
		want   []string
	}{
		{"in the first list", func() { handler.OnAdd(foo("1", "one"), true) }, "add", []string{"found    Foo default/foo: one"}},
		{"new", func() { handler.OnAdd(foo("1", "one"), false) }, "add", []string{"added    Foo default/foo: one"}},
		{"changed", func() { handler.OnUpdate(foo("1", "one"), foo("2", "two")) }, "update", []string{"changed  Foo default/foo: two"}},
		{"changed where nobody looks", func() { handler.OnUpdate(foo("2", "two"), foo("3", "two")) }, "update", nil},
		{"a resync", func() { handler.OnUpdate(foo("3", "two"), foo("3", "two")) }, "update", nil},
		{"not part of the story", func() { handler.OnAdd(foo("1", ""), false) }, "add", nil},
		{"deleted", func() { handler.OnDelete(foo("4", "two")) }, "delete", []string{"deleted  Foo default/foo: it is gone"}},
		{"a tombstone", func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/foo", Obj: foo("4", "two")}) }, "delete", []string{"deleted  Foo default/foo: it is gone"}},
		{"a tombstone with only the key", func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/foo"}) }, "delete", nil},
	} {
		next = nil
		test.event()
		if diff := cmp.Diff([]string{test.next}, next); diff != "" {
			t.Errorf("%s: next handler (-want +got):\n%s", test.reason, diff)
		}
		if diff := cmp.Diff(test.want, told(t, &out)); diff != "" {
			t.Errorf("%s: story (-want +got):\n%s", test.reason, diff)
		}
	}
}

// Of a first list of thousands the story tells the beginning; each object reaches
// the next handler.
func TestHandlerOfMany(t *testing.T) {
	var out bytes.Buffer
	next := 0
	handler := story.Handler(story.New(&out), "Foo", func(f *v1alpha1.Foo) string { return f.Labels["d"] },
		cache.ResourceEventHandlerFuncs{AddFunc: func(any) { next++ }})
	for range 1000 {
		handler.OnAdd(foo("1", "one"), true)
	}
	lines := told(t, &out)
	if next != 1000 || len(lines) != 51 || lines[50] != "found    more of kind Foo, if any, are not told one by one" {
		t.Errorf("%d objects were handed on and %d lines told, the last %q", next, len(lines), lines[len(lines)-1])
	}
	handler.OnAdd(foo("1", "later"), false)
	if lines := told(t, &out); len(lines) != 1 {
		t.Errorf("an object that comes later is told in %q, want one line", lines)
	}
}

// A request is told with its answer and with the key that it was sent for; reads
// are not told.
func TestTransport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) }))
	defer server.Close()
	var out bytes.Buffer
	teller := story.New(&out)
	client := &http.Client{Transport: teller.Transport(http.DefaultTransport)}
	send := func(ctx context.Context, method, url string) {
		request, err := http.NewRequestWithContext(ctx, method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := client.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}

	send(context.Background(), http.MethodGet, server.URL+"/read")
	send(context.Background(), http.MethodPut, server.URL+"/written?q=1")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	send(cancelled, http.MethodDelete, server.URL+"/cancelled")
	failed := errors.New("told on")
	_, err := teller.Reconcile(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
		send(ctx, http.MethodPost, server.URL+"/reconciled")
		return time.Second, failed
	})(context.Background(), cache.NewObjectName("default", "foo"))
	if !errors.Is(err, failed) {
		t.Errorf("error %v, want the reconcile's own", err)
	}

	if diff := cmp.Diff([]string{
		"sent     PUT /written → 409 Conflict",
		"sent     DELETE /cancelled → no answer",
		"sent     POST /reconciled → 409 Conflict  (for Foo default/foo)",
	}, told(t, &out)); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}
