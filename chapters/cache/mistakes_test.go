package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/internal/testkit"
)

const path = "/api/v1/namespaces/default/secrets/"

// server has ten Secrets, s0 to s9. s0 is wanted, by label and by type.
func server() *testkit.APIServer {
	s := testkit.NewAPIServer()
	for i := range 10 {
		s.Add(fmt.Sprint(path, "s", i), secret(i == 0))
	}
	return s
}

func secret(wanted bool) *unstructured.Unstructured {
	secret := &unstructured.Unstructured{Object: map[string]any{"type": "Opaque"}}
	if wanted {
		secret.Object["type"] = "example.com/wanted"
		secret.SetLabels(map[string]string{"cache": "wanted"})
	}
	return secret
}

func wayOf(name string) way {
	return ways[slices.IndexFunc(ways, func(w way) bool { return w.name == name })]
}

// lines are what measure prints.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- strings.TrimSpace(string(line))
	return len(line), nil
}

// follow returns when a way's cache is full. The next event that it hears comes on the channel.
func follow(t *testing.T, s *testkit.APIServer, name string, o options) lines {
	heard := make(lines, 10)
	o.events = 1
	go func() {
		if _, err := measure(t.Context(), s.Config(), wayOf(name), o, heard); err != nil {
			heard <- err.Error()
		}
	}()
	if line := <-heard; !strings.Contains(line, "now waiting") {
		t.Fatal(line)
	}
	return heard
}

// lists is how many lists and watches the server was asked for.
func lists(s *testkit.APIServer) (n int) {
	for _, request := range s.Log() {
		if request.Target.Name == "" {
			n++
		}
	}
	return n
}

func get(t *testing.T, s *testkit.APIServer, name string) *corev1.Secret {
	t.Helper()
	secret, err := typedcorev1.NewForConfigOrDie(s.Config()).Secrets("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// A client that reads from a cache starts one at the first Get: of one Secret, and the cache
// holds all of them. A live Get is one request.
func TestGetStartsACacheOfAll(t *testing.T) {
	s := server()
	if r, err := measure(t.Context(), s.Config(), wayOf("everything"), options{}, io.Discard); err != nil || r.objects != 10 || lists(s) == 0 {
		t.Errorf("%+v, %v, %d lists: want 10 objects", r, err, lists(s))
	}
	s.Forget()
	if get(t, s, "s1"); len(s.Log()) != 1 || lists(s) != 0 {
		t.Errorf("a live Get sends %v, want one request", s.Log())
	}
}

// Without the right to list a cache stays empty and tries for ever, and its lister says NotFound
// of what exists. The program ends, and says why.
func TestNoRightToList(t *testing.T) {
	s := server()
	s.Refuse(func(*http.Request) *apierrors.StatusError {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", fmt.Errorf(`User "u" cannot list`))
	})
	requests, example := wayOf("everything").listWatch(s.Config(), options{})
	informer := cache.NewSharedIndexInformer(requests, example, 0, cache.Indexers{})
	refused := make(chan error, 100)
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { refused <- err })
	go informer.RunWithContext(t.Context())
	<-refused
	if _, found, err := informer.GetStore().GetByKey("default/s1"); found || err != nil || informer.HasSynced() {
		t.Errorf("found %t, %v, in sync %t: want nothing, without an error, and never in sync", found, err, informer.HasSynced())
	}
	if _, err := measure(t.Context(), s.Config(), wayOf("everything"), options{}, io.Discard); !apierrors.IsForbidden(err) {
		t.Errorf("the program: %v, want the refusal", err)
	}
}

// An object that leaves the selection is DELETED in the watch, and exists. A controller that
// cleans up for that reason destroys what is in use.
func TestLeavesTheSelector(t *testing.T) {
	s := server()
	heard := follow(t, s, "label", options{label: "cache=wanted"})
	s.Edit(path+"s0", func(secret *unstructured.Unstructured) { secret.SetLabels(nil) })
	if got := <-heard; got != "label: DELETED default/s0" {
		t.Error(got)
	}
	if get(t, s, "s0").DeletionTimestamp != nil {
		t.Error("the Secret is being deleted")
	}
}

// Two informers on one resource are two streams of everything. Take one, with two handlers.
func TestTwoInformers(t *testing.T) {
	s := server()
	follow(t, s, "everything", options{})
	one := lists(s)
	follow(t, s, "everything", options{})
	if got := lists(s); got != 2*one {
		t.Errorf("%d lists and watches, want %d", got, 2*one)
	}
}

// A label is no boundary: who may create an object anywhere may give it the label, and the
// program works on what it was never meant to see. A namespace is one.
func TestLabelIsNoBoundary(t *testing.T) {
	s := server()
	s.AddNamespace("stranger")
	heard := follow(t, s, "label", options{label: "cache=wanted"})
	s.Add("/api/v1/namespaces/stranger/secrets/trap", secret(true))
	if got := <-heard; got != "label: ADDED stranger/trap" {
		t.Error(got)
	}
	if r, err := measure(t.Context(), s.Config(), wayOf("namespace"), options{namespace: "default"}, io.Discard); err != nil || r.objects != 10 {
		t.Errorf("one namespace: %+v, %v, want 10 objects", r, err)
	}
}
