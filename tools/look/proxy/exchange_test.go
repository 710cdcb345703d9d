package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// A message arrives unchanged and becomes a step: events, responses and requests, in JSON and protobuf.
// For unreadable encodings look requests JSON, and logs that.
func TestRoundTrip(t *testing.T) {
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), appsv1.SchemeGroupVersion)
	encoded := func(version string, replicas int32) string {
		d := deployment()
		d.Namespace, d.UID, d.ResourceVersion, d.Spec.Replicas = "default", "u", version, &replicas
		return runtime.EncodeOrDie(encoder, d)
	}
	event, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte(encoded("1", 1))}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	_, _ = protobuf.LengthDelimitedFramer.NewFrameWriter(&stream).Write(event)

	const deployments, widgets = "/apis/apps/v1/namespaces/default/deployments", "/apis/example.com/v1/widgets"
	const proto, json, table = runtime.ContentTypeProtobuf, runtime.ContentTypeJSON, runtime.ContentTypeJSON + ";as=Table;v=v1;p=meta.k8s.io"
	const metadata = proto + ";as=PartialObjectMetadata;p=meta.k8s.io;v=v1"
	s := play(t, Options{}, func(s *script) {
		for _, test := range []struct {
			method, path, sent, accepts, asked string
			code                               int
			answer                             string
		}{
			{"GET", deployments + "?watch=1", "", proto, proto, 200, stream.String()},
			{"PUT", deployments + "/a", encoded("1", 3), proto, proto, 200, encoded("2", 3)},
			{"GET", widgets, "", metadata, metadata, 200, ""},
			{"GET", widgets, "", proto, json, 200, ""},
			{"GET", widgets, "", proto + "," + json, json, 500, `{"message":"out of order"}`},
			{"GET", deployments + "?watch=True", "", json, json, 410, ""},
			{"GET", deployments, "", table + "," + json, table + "," + json, 200, `{"kind":"Table"}`},
			{"DELETE", deployments + "/a", "", "*/*", "*/*", 0, ""},
			// These are not logged.
			{"GET", "/apis", "", proto, proto, 200, ""},
			{"PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/a", "", json, json, 200, ""},
			{"DELETE", deployments + "/a?dryRun=All", "", json, json, 200, ""},
			{"GET", "/api/v1/namespaces/default/pods/a/log", "", json, json, 200, ""},
		} {
			time.Sleep(time.Millisecond)
			request := httptest.NewRequest(test.method, test.path, strings.NewReader(test.sent))
			request.Header.Set("Accept", test.accepts)
			response, err := s.passes(request, test.code, test.answer)
			if s.asked != test.asked || (err != nil) != (test.code == 0) {
				t.Errorf("%s %s: the API server is asked for %q, and the program got %v", test.method, test.path, s.asked, err)
			}
			if err != nil {
				continue
			}
			if got, err := io.ReadAll(response.Body); err != nil || string(got) != test.answer {
				t.Errorf("%s %s: the program got %q, %v", test.method, test.path, got, err)
			}
			_ = response.Body.Close()
		}
	})
	told := ""
	for _, step := range s.Kept(0) {
		told += fmt.Sprintf("%s %s %s | %s | %s\n", step.Part, step.What, step.Key, step.Log, step.Text)
	}
	if diff := cmp.Diff(`program started  | look | recording 2
stream opened  | watches | deployments.apps in default
stream received default/a | added | Deployment default/a
stream ended  |  | 
request sent default/a |  | 
request answered default/a | sent | PUT /apis/apps/v1/namespaces/default/deployments/a → 200: spec.replicas 1 → 3  (because Deployment default/a was added, 1ms before)
stream listed  | listed | 0 widgets.example.com
program said  | look | look cannot decode application/vnd.kubernetes.protobuf of widgets.example.com, so it requests JSON
stream listed  | listed | 0 widgets.example.com
stream refused  | refused | list of widgets.example.com → 500: out of order
stream refused  | refused | watch of deployments.apps in default → 410
stream listed  | listed | 0 deployments.apps in default
request sent default/a |  | 
request failed default/a | sent | DELETE /apis/apps/v1/namespaces/default/deployments/a → no answer: nobody is there  (because Deployment default/a was added, 9ms before)
program said  | summary | deployments.apps: 2 writes (0 % changed nothing), 1 lists, 0 GETs, 0 conflicts
program said  | summary | widgets.example.com: 0 writes (0 % changed nothing), 2 lists, 0 GETs, 0 conflicts
`, told); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
