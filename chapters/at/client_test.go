package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const atJSON = `{"apiVersion":"cnat.programming-kubernetes.info/v1alpha1","kind":"At","metadata":{"name":"one","resourceVersion":"7"}}`

// dial returns a client for a server that answers every request so, and what it was asked.
func dial(t *testing.T, answer string) (client *Client, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client, asked
}

// TestRequests: each verb is this one request.
func TestRequests(t *testing.T) {
	const path = "/apis/cnat.programming-kubernetes.info/v1alpha1"
	options := metav1.ListOptions{ResourceVersion: "5"}
	for _, test := range []struct {
		verb   string
		answer string
		send   func(ctx context.Context, c *Client) (any, error)
		want   string
	}{
		{"get", atJSON, func(ctx context.Context, c *Client) (any, error) {
			return c.Ats("ns").Get(ctx, "one", metav1.GetOptions{})
		}, "GET " + path + "/namespaces/ns/ats/one"},
		{"list", `{"kind":"AtList","apiVersion":"cnat.programming-kubernetes.info/v1alpha1","metadata":{},"items":[]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Ats("ns").List(ctx, options)
		}, "GET " + path + "/namespaces/ns/ats?resourceVersion=5"},
		{"list of all namespaces", `{"kind":"AtList","apiVersion":"cnat.programming-kubernetes.info/v1alpha1","metadata":{},"items":[]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Ats("").List(ctx, options)
		}, "GET " + path + "/ats?resourceVersion=5"},
		{"watch", "", func(ctx context.Context, c *Client) (any, error) {
			return c.Ats("ns").Watch(ctx, options)
		}, "GET " + path + "/namespaces/ns/ats?resourceVersion=5&watch=true"},
		{"watch of all namespaces", "", func(ctx context.Context, c *Client) (any, error) {
			return c.Ats("").Watch(ctx, options)
		}, "GET " + path + "/ats?resourceVersion=5&watch=true"},
	} {
		t.Run(test.verb, func(t *testing.T) {
			client, asked := dial(t, test.answer)
			if _, err := test.send(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{test.want}, *asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUpdateStatus: the body is the object with its kind, and the answer comes back.
func TestUpdateStatus(t *testing.T) {
	client, asked := dial(t, atJSON)
	at := &At{ObjectMeta: metav1.ObjectMeta{Name: "one", ResourceVersion: "6"}, Status: AtStatus{Phase: PhaseRunning}}
	updated, err := client.Ats("ns").UpdateStatus(t.Context(), at, metav1.UpdateOptions{})
	if err != nil || updated.ResourceVersion != "7" {
		t.Fatalf("version %s (%v), want 7", updated.ResourceVersion, err)
	}
	request, body, _ := strings.Cut((*asked)[0], " {")
	if want := "PUT /apis/cnat.programming-kubernetes.info/v1alpha1/namespaces/ns/ats/one/status"; request != want {
		t.Errorf("request %s, want %s", request, want)
	}
	var sent At
	if err := json.Unmarshal([]byte("{"+body), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Kind != "At" || sent.ResourceVersion != "6" || sent.Status.Phase != PhaseRunning {
		t.Errorf("sent %+v", sent)
	}
}
