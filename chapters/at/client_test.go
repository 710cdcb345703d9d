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
		path    = "/apis/cnat.programming-kubernetes.info/v1alpha1"
		version = `"apiVersion":"cnat.programming-kubernetes.info/v1alpha1"`
		at      = `{"kind":"At",` + version + `,"metadata":{"name":"one","resourceVersion":"7"}}`
		put     = `{"kind":"At",` + version + `,"metadata":{"name":"one","resourceVersion":"6"},"spec":{"schedule":"","containers":null},"status":{"phase":"RUNNING"}}`
	)
	one := &At{ObjectMeta: metav1.ObjectMeta{Name: "one", ResourceVersion: "7"}}
	for _, test := range []struct {
		request string
		send    func(c *Client) (*At, error)
	}{
		{"GET " + path + "/namespaces/ns/ats/one", func(c *Client) (*At, error) {
			return c.Ats("ns").Get(t.Context(), "one", metav1.GetOptions{})
		}},
		{"PUT " + path + "/namespaces/ns/ats/one/status " + put, func(c *Client) (*At, error) {
			before := &At{ObjectMeta: metav1.ObjectMeta{Name: "one", ResourceVersion: "6"}, Status: AtStatus{Phase: PhaseRunning}}
			return c.Ats("ns").UpdateStatus(t.Context(), before, metav1.UpdateOptions{})
		}},
	} {
		client, err := NewClient(chaptertest.Expect(t, chaptertest.Exchange{Request: test.request, Code: 200, Answer: at}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := test.send(client)
		if err != nil {
			t.Errorf("%s: %v", test.request, err)
		}
		if diff := cmp.Diff(one, got); diff != "" {
			t.Errorf("%s: answer (-want +got):\n%s", test.request, diff)
		}
	}
}
