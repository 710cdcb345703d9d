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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

const atJSON = `{"apiVersion":"cnat.programming-kubernetes.info/v1alpha1","kind":"At","metadata":{"name":"one","resourceVersion":"7"}}`

// dial returns a client for a server that answers every request so, and what it was asked.
func dial(t *testing.T, code int, answer string) (client *Client, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
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
			client, asked := dial(t, http.StatusOK, test.answer)
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
	client, asked := dial(t, http.StatusOK, atJSON)
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

// TestWatch: an event is decoded, also one that says what went wrong.
func TestWatch(t *testing.T) {
	client, _ := dial(t, http.StatusOK, `{"type":"ADDED","object":`+atJSON+`}`+"\n"+
		`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`+"\n")
	stream, err := client.Ats("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	if event := <-stream.ResultChan(); event.Type != watch.Added || event.Object.(*At).Name != "one" {
		t.Errorf("event %+v", event)
	}
	if event := <-stream.ResultChan(); event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
		t.Errorf("event %+v, want 410", event)
	}
}

func TestNotFound(t *testing.T) {
	client, _ := dial(t, http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	if at, err := client.Ats("ns").Get(t.Context(), "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) || at == nil {
		t.Errorf("got %v, %v, want an empty At and NotFound", at, err)
	}
}
