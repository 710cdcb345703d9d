//go:build bare

package testkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/config"
	"example.com/byhand/kit/crd"
	"example.com/byhand/kit/testkit"
)

// TestTable sends one table of requests to the API server in memory and to a real one without controllers. It
// compares codes, bodies and watch events.
func TestTable(t *testing.T) {
	real, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	want := play(t, real)
	var resources []testkit.Resource
	for _, file := range []string{"foos.samplecontroller.k8s.io", "projects.examples-gzh.com"} {
		text, err := config.CRDs.ReadFile("crd/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		resource, err := crd.Resource(text)
		if err != nil {
			t.Fatal(err)
		}
		resources = append(resources, resource)
	}
	got := play(t, testkit.NewAPIServer(resources...).Config())
	for i, row := range want {
		if i >= len(got) {
			t.Fatalf("only the real server says\n%s", strings.Join(want[i:], "\n"))
		}
		if diff := cmp.Diff(strings.Split(row, "\n"), strings.Split(got[i], "\n")); diff != "" {
			t.Errorf("(-real +memory)\n%s", diff)
		}
	}
}

const (
	foos        = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/NAMESPACE/foos"
	projects    = "/apis/examples-gzh.com/v1alpha1/namespaces/NAMESPACE/projects"
	deployments = "/apis/apps/v1/namespaces/NAMESPACE/deployments"
	leases      = "/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases"
	events      = "/api/v1/namespaces/NAMESPACE/events"
	secrets     = "/api/v1/namespaces/NAMESPACE/secrets"

	metadataOnly                = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	merge, jsonPatch, strategic = "application/merge-patch+json", "application/json-patch+json", "application/strategic-merge-patch+json"
)

// A row is a request: METHOD URL and its body. rv1 is the first resourceVersion in the server's responses, uid1
// the first UID. accept is the form of the response: the whole object if empty.
type row struct{ request, body, contentType, accept string }

func foo(metadata, spec string) string {
	return `{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":{` + metadata + `},"spec":{` + spec + `}}`
}

func project(metadata, spec string) string {
	return `{"apiVersion":"examples-gzh.com/v1alpha1","kind":"Project","metadata":{` + metadata + `},"spec":{` + spec + `}}`
}

func aDeployment(metadata, spec string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{` + metadata + `},"spec":{` + spec +
		`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
}

func status(metadata, status string) string {
	return `{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":{` + metadata + `},"spec":{"deploymentName":"ignored"},"status":{` + status + `}}`
}

func condition(fields string) string {
	return `"conditions":[{"type":"Ready","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z",` + fields + `}]`
}

const (
	a    = `"name":"a"`
	spec = `"deploymentName":"d","replicas":2`
)

var table = []row{
	// Missing objects.
	{request: "GET " + foos + "/a"},
	{request: "PUT " + foos + "/a", body: foo(a+`,"resourceVersion":"1"`, spec)},
	{request: "DELETE " + foos + "/a"},
	{request: "GET " + foos + "/a/status"},
	{request: "PATCH " + foos + "/a", body: `{}`, contentType: merge},
	{request: "GET /apis/samplecontroller.k8s.io/v1alpha1/namespaces/NAMESPACE/bars"},
	{request: "POST " + strings.ReplaceAll(foos, "NAMESPACE", "none"), body: foo(a, spec)},
	// Create, and objects that the schema rejects.
	{request: "POST " + foos, body: foo(a, spec)},
	{request: "POST " + foos, body: foo(a, spec)},
	{request: "POST " + foos, body: foo(``, spec)},
	{request: "POST " + foos, body: foo(`"name":"b","resourceVersion":"1"`, spec)},
	{request: "POST " + foos, body: foo(`"name":"b","namespace":"other"`, spec)},
	{request: "POST " + foos, body: project(`"name":"b"`, spec)},
	{request: "POST " + foos, body: `{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":{"name":"b"}}`},
	{request: "POST " + foos, body: foo(`"name":"b"`, ``)},
	{request: "POST " + foos, body: foo(`"name":"b"`, `"deploymentName":""`)},
	{request: "POST " + foos, body: foo(`"name":"b"`, `"deploymentName":"d","replicas":11`)},
	{request: "POST " + foos, body: foo(`"name":"b"`, `"deploymentName":"d","replicas":null,"more":1`)},
	{request: "POST " + projects, body: project(`"name":"p"`, ``)},
	{request: "POST " + projects, body: project(`"name":"p"`, `"replicas":0`)},
	{request: "POST " + projects, body: project(`"name":"p"`, `"replicas":1`)},
	// Update: a changed spec increments the generation; the status has a separate URL.
	{request: "PUT " + foos + "/a", body: foo(a, spec)},
	{request: "PUT " + foos + "/a", body: foo(a+`,"resourceVersion":"rv1"`, spec)},
	{request: "PUT " + foos + "/a", body: foo(a+`,"resourceVersion":"rv1","labels":{"l":"1"}`, spec)},
	{request: "PUT " + foos + "/a", body: foo(a+`,"resourceVersion":"rv1"`, spec)},
	{request: "PUT " + foos + "/a", body: foo(`"name":"c","resourceVersion":"rv1"`, spec)},
	{request: "PATCH " + foos + "/a", body: `{"spec":{"replicas":3}}`, contentType: merge},
	{request: "PATCH " + foos + "/a", body: `{"spec":{"replicas":11}}`, contentType: merge},
	{request: "PATCH " + foos + "/a", body: `{"metadata":{"resourceVersion":"rv1"}}`, contentType: merge},
	{request: "PATCH " + foos + "/a", body: `{"metadata":{"uid":"other"}}`, contentType: merge},
	{request: "PATCH " + foos + "/a", body: `{"status":{"replicas":3}}`, contentType: merge},
	{request: "PATCH " + foos + "/a", body: `[{"op":"test","path":"/spec/replicas","value":4}]`, contentType: jsonPatch},
	{request: "PATCH " + foos + "/a", body: `[{"op":"test","path":"/spec/replicas","value":3},{"op":"replace","path":"/spec/replicas","value":4}]`, contentType: jsonPatch},
	{request: "PATCH " + foos + "/a", body: `{}`, contentType: strategic},
	{request: "PATCH " + foos + "/a/status", body: `{"spec":{"replicas":9},"status":{"replicas":3,"availableReplicas":2,"selector":"a=b"}}`, contentType: merge},
	{request: "PATCH " + foos + "/a/status", body: `{"status":{` + condition(`"observedGeneration":1`) + `}}`, contentType: merge},
	{request: "PATCH " + foos + "/a/status", body: `{"status":{` + condition(`"reason":"not a reason"`) + `}}`, contentType: merge},
	{request: "PATCH " + foos + "/a/status", body: `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, contentType: merge},
	{request: "PUT " + foos + "/a/status", body: status(a+`,"resourceVersion":"rv1"`, ``)},
	{request: "PUT " + foos + "/a/status", body: status(a, `"replicas":1`)},
	{request: "GET " + foos + "/a/status"},
	{request: "PATCH " + projects + "/p", body: `{"spec":{"replicas":2}}`, contentType: merge},
	{request: "GET " + projects + "/p/status"},
	// Scale.
	{request: "GET " + foos + "/a/scale"},
	{request: "GET " + foos + "/b/scale"},
	{request: "PATCH " + foos + "/b/scale", body: `{"spec":{"replicas":1}}`, contentType: merge},
	{request: "PATCH " + foos + "/a/scale", body: `{"spec":{"replicas":5}}`, contentType: merge},
	{request: "PUT " + foos + "/a/scale", body: `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"},"spec":{"replicas":6}}`},
	{request: "PUT " + foos + "/a/scale", body: `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","resourceVersion":"rv1"},"spec":{"replicas":7}}`},
	{request: "PUT " + foos + "/a/scale", body: `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"},"spec":{"replicas":11}}`},
	// List.
	{request: "GET " + foos},
	{request: "GET " + foos + "?limit=1"},
	{request: "GET " + foos + "?limit=1&continue=CONTINUE"},
	{request: "GET " + foos + "?labelSelector=l%3D1"},
	{request: "GET " + foos + "?fieldSelector=metadata.name%3Db"},
	{request: "GET " + foos + "?fieldSelector=spec.replicas%3D1"},
	{request: "GET " + foos + "?resourceVersion=rv1&resourceVersionMatch=Exact"},
	{request: "GET " + foos + "?resourceVersion=rv1&limit=5"},
	{request: "GET " + foos + "?resourceVersion=0&limit=1"},
	// Metadata alone.
	{request: "GET " + foos + "/a", accept: metadataOnly},
	{request: "GET " + foos, accept: strings.Replace(metadataOnly, "Metadata", "MetadataList", 1)},
	{request: "PATCH " + foos + "/a", body: `{"spec":{"replicas":8}}`, contentType: merge, accept: metadataOnly},
	{request: "GET " + foos + "/a"},
	// Deployments: an update without a version overwrites.
	{request: "POST " + deployments, body: aDeployment(`"name":"d"`, ``)},
	{request: "PUT " + deployments + "/d", body: aDeployment(`"name":"d"`, `"replicas":3,`)},
	{request: "PUT " + deployments + "/d", body: aDeployment(`"name":"d","resourceVersion":"rv1"`, `"replicas":4,`)},
	{request: "PUT " + deployments + "/d", body: aDeployment(`"name":"d","uid":"other"`, `"replicas":4,`)},
	{request: "PATCH " + deployments + "/d", body: `{"metadata":{"finalizers":["example.com/f","example.com/g"]}}`, contentType: strategic},
	{request: "PATCH " + deployments + "/d", body: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/g"]}}`, contentType: strategic},
	{request: "PATCH " + deployments + "/d/status", body: `{"status":{"observedGeneration":2,"replicas":3,"readyReplicas":1,"availableReplicas":1}}`, contentType: merge},
	{request: "GET " + deployments + "/d/scale"},
	{request: "DELETE " + deployments + "/d", body: `{"preconditions":{"uid":"other"}}`},
	{request: "DELETE " + deployments + "/d", body: `{"preconditions":{"resourceVersion":"rv1"}}`},
	{request: "DELETE " + deployments + "/d", body: `{"propagationPolicy":"Foreground"}`},
	{request: "DELETE " + deployments + "/d", body: `{"propagationPolicy":"Orphan"}`},
	{request: "DELETE " + deployments + "/d", body: `{"propagationPolicy":"Background"}`},
	{request: "POST " + deployments, body: aDeployment(`"name":"d"`, ``)},
	{request: "PATCH " + deployments + "/d", body: `{"metadata":{"finalizers":null}}`, contentType: merge},
	{request: "GET " + deployments + "/d"},
	// Leases and Events.
	{request: "POST " + leases, body: `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{"holderIdentity":"me"}}`},
	{request: "PUT " + leases + "/l", body: `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{"holderIdentity":"you"}}`},
	{request: "PUT " + leases + "/l", body: `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l","resourceVersion":"rv1"},"spec":{"holderIdentity":"you"}}`},
	{request: "POST " + events, body: `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"involvedObject":{"kind":"Foo","namespace":"NAMESPACE","name":"a"},"reason":"R","message":"m","type":"Normal","count":1}`},
	{request: "PATCH " + events + "/e", body: `{"count":2}`, contentType: strategic},
	// A Secret can be selected by its type, but not by its data.
	{request: "POST " + secrets, body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","labels":{"l":"1"}},"type":"example.com/t"}`},
	{request: "POST " + secrets, body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"u"},"type":"example.com/u"}`},
	{request: "GET " + secrets + "?fieldSelector=type%3Dexample.com/t"},
	{request: "GET " + secrets + "?fieldSelector=type%21%3Dexample.com/t,metadata.name%3Du"},
	{request: "GET " + secrets + "?fieldSelector=data%3Dd"},
	{request: "DELETE " + secrets + "/s"},
	{request: "GET " + secrets + "?watch=true&resourceVersion=rv1&fieldSelector=type%3Dexample.com/t&timeoutSeconds=1"},
	// Labels, annotations and owners that cannot be, of a built-in kind and of another.
	{request: "POST " + secrets, body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"v","labels":{"l":"not a value"}}}`},
	{request: "POST " + secrets, body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"v","ownerReferences":[{"apiVersion":"v1","kind":"","name":"n","uid":"u"}]}}`},
	{request: "PATCH " + foos + "/a", body: `{"metadata":{"labels":{"l":"not a value"}}}`, contentType: merge},
	{request: "PATCH " + foos + "/a", body: `{"metadata":{"annotations":{"not a name":""}}}`, contentType: merge},
	// Delete: with finalizers, in three ways, and all.
	{request: "DELETE " + foos + "/b", body: `{"preconditions":{"uid":"uid1"}}`},
	{request: "DELETE " + foos + "/b", body: `{"propagationPolicy":"Foreground"}`},
	{request: "DELETE " + foos + "/b"},
	{request: "PATCH " + foos + "/b", body: `{"spec":{"replicas":1}}`, contentType: merge},
	{request: "PATCH " + foos + "/b", body: `{"metadata":{"finalizers":["foregroundDeletion","example.com/f"]}}`, contentType: merge},
	{request: "PATCH " + foos + "/b", body: `{"metadata":{"finalizers":[]}}`, contentType: merge},
	{request: "GET " + foos + "/b"},
	{request: "DELETE " + foos + "/a", body: `{"propagationPolicy":"Background"}`},
	{request: "POST " + foos, body: foo(`"name":"x","labels":{"l":"1"}`, spec)},
	{request: "POST " + foos, body: foo(`"name":"y"`, spec)},
	{request: "PATCH " + foos + "/x", body: `{"metadata":{"labels":{"l":"2"}}}`, contentType: merge},
	{request: "DELETE " + foos + "/x"},
	{request: "DELETE " + foos + "/y", body: `{"propagationPolicy":"Orphan"}`},
	{request: "GET " + foos},
	// A watch of all changes, a watch of a label, and a streaming list.
	{request: "GET " + foos + "?watch=true&resourceVersion=rv1&timeoutSeconds=1"},
	{request: "GET " + foos + "?watch=true&resourceVersion=rv1&labelSelector=l%3D1&timeoutSeconds=1"},
	{request: "GET " + foos + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"},
	{request: "GET " + foos + "?watch=yes&timeoutSeconds=1"},
	{request: "GET " + foos + "?watch=False"},
	{request: "GET " + foos + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1", accept: metadataOnly},
	{request: "GET " + foos + "?watch=true&timeoutSeconds=1&resourceVersion=1"},
	// A namespace that is being deleted. Without controllers it stays so.
	{request: "DELETE /api/v1/namespaces/NAMESPACE"},
	{request: "POST " + foos, body: foo(`"name":"z"`, spec)},
}

// player sends the rows to one server, and records the responses without the values that differ between runs.
type player struct {
	*testing.T
	http           *http.Client
	host           string
	versions, uids []string
	token          string
}

func play(t *testing.T, config *rest.Config) (said []string) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	const namespace = "table"
	p := &player{T: t, http: client, host: config.Host}
	p.send(row{request: "POST /api/v1/namespaces", body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + namespace + `"}}`})
	p.versions, p.uids = nil, nil
	for _, row := range table {
		says := row.request + "\n" + row.body
		row.request = p.filled(strings.ReplaceAll(row.request, "NAMESPACE", namespace))
		row.body = p.filled(strings.ReplaceAll(row.body, "NAMESPACE", namespace))
		said = append(said, says+"\n"+p.send(row))
	}
	return said
}

// filled replaces placeholders, such as rv1 and uid1, by the server's values.
func (p *player) filled(text string) string {
	for i, version := range p.versions {
		text = regexp.MustCompile(fmt.Sprintf(`\brv%d\b`, i+1)).ReplaceAllLiteralString(text, version)
	}
	for i, uid := range p.uids {
		text = regexp.MustCompile(fmt.Sprintf(`\buid%d\b`, i+1)).ReplaceAllLiteralString(text, uid)
	}
	return strings.ReplaceAll(text, "CONTINUE", p.token)
}

// send returns the code and the answer.
func (p *player) send(row row) string {
	p.Helper()
	method, path, _ := strings.Cut(row.request, " ")
	ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
	defer cancel()
	if row.contentType == "" {
		row.contentType = "application/json"
	}
	r, err := http.NewRequestWithContext(ctx, method, p.host+path, strings.NewReader(row.body))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Content-Type", row.contentType)
	if row.accept != "" {
		r.Header.Set("Accept", row.accept)
	}
	answer, err := p.http.Do(r)
	if err != nil {
		p.Fatalf("%s: %v", row.request, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		p.Fatalf("%s: %v", row.request, err)
	}
	said := fmt.Sprintln(answer.StatusCode)
	for decoder := json.NewDecoder(bytes.NewReader(body)); ; { // A watch sends several values.
		var value map[string]any
		switch err := decoder.Decode(&value); err {
		case nil:
			said += p.normal(value)
		case io.EOF:
			return said
		default:
			return said + string(body)
		}
	}
}

// normal removes the fields of an answer that differ between two servers.
func (p *player) normal(answer map[string]any) string {
	object, isEvent := answer["object"].(map[string]any)
	if !isEvent {
		object = answer
	}
	p.normalObject(object)
	items, _ := object["items"].([]any)
	for _, item := range items {
		p.normalObject(item.(map[string]any))
	}
	text, err := json.MarshalIndent(answer, "", " ")
	if err != nil {
		p.Fatal(err)
	}
	if answer["type"] == "BOOKMARK" && !bytes.Contains(text, []byte("annotations")) {
		return "" // A real server sends these when it has time.
	}
	return string(text) + "\n"
}

func (p *player) normalObject(object map[string]any) {
	if metadata, ok := object["metadata"].(map[string]any); ok {
		p.normalMetadata(metadata)
	}
	switch object["kind"] {
	case "Deployment", "Event":
		defaultsAway(object)
	case "Namespace":
		clear(object)
	case "Status":
		p.normalStatus(object)
	}
	delete(object, "apiVersion") // Only some servers send it for the items of a list.
	delete(object, "kind")
}

func (p *player) normalMetadata(metadata map[string]any) {
	delete(metadata, "managedFields")
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		if metadata[name] != nil {
			metadata[name] = "time"
		} else {
			delete(metadata, name)
		}
	}
	if uid, ok := metadata["uid"].(string); ok {
		metadata["uid"] = number(&p.uids, "uid", uid)
	}
	if version, ok := metadata["resourceVersion"].(string); ok {
		_, named := metadata["name"]
		if metadata["resourceVersion"] = "of the server"; named {
			metadata["resourceVersion"] = number(&p.versions, "rv", version)
		}
	}
	if token, _ := metadata["continue"].(string); token != "" {
		p.token, metadata["continue"] = token, "token"
	} else {
		delete(metadata, "continue")
	}
}

// number names a value by when it was first seen.
func number(seen *[]string, prefix, value string) string {
	i := slices.Index(*seen, value)
	if i < 0 {
		i = len(*seen)
		*seen = append(*seen, value)
	}
	return fmt.Sprint(prefix, i+1)
}

// defaultsAway keeps only the fields on which the reconcile of a Foo depends: a server in memory sets no other
// defaults.
func defaultsAway(object map[string]any) {
	if spec, ok := object["spec"].(map[string]any); ok {
		object["spec"] = map[string]any{"replicas": spec["replicas"]}
	}
	for _, name := range []string{"eventTime", "firstTimestamp", "lastTimestamp", "reportingComponent", "reportingInstance", "source"} {
		delete(object, name)
	}
	if status, ok := object["status"].(map[string]any); ok && len(status) == 0 {
		delete(object, "status")
	}
}

// normalStatus keeps the first of several causes, without its place in the schema. It removes values of one
// server only: the key in etcd, versions.
func (p *player) normalStatus(status map[string]any) {
	message, _ := status["message"].(string)
	details, _ := status["details"].(map[string]any)
	if uid, ok := details["uid"].(string); ok {
		details["uid"] = number(&p.uids, "uid", uid)
	}
	if details["causes"] != nil {
		causes := details["causes"].([]any)
		cause := causes[0].(map[string]any)
		cause["message"] = regexp.MustCompile(`\S+ in body`).ReplaceAllString(fmt.Sprint(cause["message"]), "in body")
		details["causes"] = causes[:1]
		message, _, _ = strings.Cut(message, "is invalid: ")
	}
	message = regexp.MustCompile(`StorageError: .*AdditionalErrorMsg: `).ReplaceAllString(message, "")
	for i, uid := range p.uids {
		message = strings.ReplaceAll(message, uid, fmt.Sprint("uid", i+1))
	}
	for i, version := range p.versions {
		message = regexp.MustCompile(`\b`+version+`\b`).ReplaceAllString(message, fmt.Sprint("rv", i+1))
	}
	status["message"] = regexp.MustCompile(`\(\d+\)`).ReplaceAllString(message, "(the oldest)")
}
