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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/tests/samples"
)

// request is a row of the tables in foo_test.go and project_test.go: a call, the request that it must send, and its
// result for the reply.
type request struct {
	name  string // begins with the method
	call  func() (any, error)
	sends string // the HTTP method, the path and the query
	// contentType is the expected content type. Empty means JSON if there is a body.
	contentType, body string
	reply             string
	want              any
}

// testRequests makes each call against an HTTP server. Each method of client must have a row.
func testRequests(t *testing.T, s *recorder, client any, rows []request) {
	for method := range reflect.TypeOf(client).Methods() {
		if !slices.ContainsFunc(rows, func(row request) bool { return strings.Fields(row.name)[0] == method.Name }) {
			t.Errorf("%s has no row", method.Name)
		}
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s.requests, s.reply = nil, row.reply
			got, err := row.call()
			if err != nil || len(s.requests) != 1 {
				t.Fatalf("error %v after %d requests, want 1", err, len(s.requests))
			}
			sent := s.requests[0]
			path, query, _ := strings.Cut(row.sends, "?")
			wantQuery, _ := url.ParseQuery(query)
			if sent.line != path {
				t.Errorf("sends %s, want %s", sent.line, path)
			}
			if diff := cmp.Diff(wantQuery, sent.query); diff != "" {
				t.Errorf("query (-want +got):\n%s", diff)
			}
			if row.body != "" && row.contentType == "" {
				row.contentType = "application/json"
			}
			if sent.contentType != row.contentType || !strings.HasPrefix(sent.accept, "application/json") {
				t.Errorf("content type %q, want %q; accepts %q, want JSON", sent.contentType, row.contentType, sent.accept)
			}
			if diff := cmp.Diff(decode(t, row.body), decode(t, sent.body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if stream, ok := got.(watch.Interface); ok {
				got = (<-stream.ResultChan()).Object
				stream.Stop()
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// recorder is an HTTP server that records requests, and sends the same reply to each.
type recorder struct {
	requests []recorded
	reply    string
}

type recorded struct {
	line, contentType, accept, body string
	query                           url.Values
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.requests = append(s.requests, recorded{r.Method + " " + r.URL.EscapedPath(), r.Header.Get("Content-Type"), r.Header.Get("Accept"), string(body), r.URL.Query()})
	reply(w, http.StatusOK, s.reply)
}

// Audit logs have the caller's name of the program, or the executable's name.
func TestUserAgent(t *testing.T) {
	for _, test := range []struct{ name, userAgent, want string }{
		{name: "the caller's User-Agent is kept", userAgent: "shop/1.0", want: "shop/1.0"},
		{name: "the default", want: rest.DefaultKubernetesUserAgent()},
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

// One *rest.Config can serve many clients.
func TestNewForConfigLeavesConfigAlone(t *testing.T) {
	config := &rest.Config{Host: "https://example.com", QPS: 5, Burst: 10}
	before := rest.CopyConfig(config)
	newClient(t, config)
	if !reflect.DeepEqual(before, config) {
		t.Errorf("before %v\nafter  %v", before, config)
	}
}

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

func serve(t *testing.T, handle http.HandlerFunc) *rest.Config {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(func() {
		// Close waits for running requests; this ends them.
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

func reply(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	io.WriteString(w, body)
}

// decode returns JSON as maps, so that the order of fields does not matter, or nil for an empty body.
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
