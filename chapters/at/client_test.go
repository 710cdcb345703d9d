package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/internal/chaptertest"
)

// TestRequests: each verb is this one request. The body of a write is the object with its kind,
// and the answer comes back.
func TestRequests(t *testing.T) {
	const (
		path    = "/apis/cnat.programming-kubernetes.info/v1alpha1/namespaces/ns/ats/one"
		at      = `{"kind":"At","apiVersion":"cnat.programming-kubernetes.info/v1alpha1","metadata":{"name":"one","namespace":"ns","resourceVersion":"6"}`
		updated = at + `,"spec":{"schedule":"","containers":null},"status":{"phase":"RUNNING"}}`
	)
	client, err := NewClient(chaptertest.Expect(t,
		chaptertest.Exchange{Request: "GET " + path, Code: 200, Answer: at + "}"},
		chaptertest.Exchange{Request: "PUT " + path + "/status " + updated, Code: 200, Answer: updated}))
	if err != nil {
		t.Fatal(err)
	}
	want := &At{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "ns", ResourceVersion: "6"}}
	got, err := client.Get(t.Context(), "ns", "one")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("GET: error %v, answer (-want +got):\n%s", err, diff)
	}
	want.Status.Phase = PhaseRunning
	got, err = client.UpdateStatus(t.Context(), want)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("PUT: error %v, answer (-want +got):\n%s", err, diff)
	}
}
