package look

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest/fake"
)

// What passes is the same on both sides, and a step: events, answers and what is sent, in protobuf as
// well. Where nobody can read that here, JSON is asked for, and the story says so.
func TestRoundTrip(t *testing.T) {
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), appsv1.SchemeGroupVersion)
	encoded := func(version string, replicas int32) []byte {
		d := deployment()
		d.Namespace, d.UID, d.ResourceVersion, d.Spec.Replicas = "default", "u", version, &replicas
		text, err := runtime.Encode(encoder, d)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	event, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: encoded("1", 1)}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	_, _ = protobuf.LengthDelimitedFramer.NewFrameWriter(&stream).Write(event)

	const deployments, widgets = "/apis/apps/v1/namespaces/default/deployments", "/apis/example.com/v1/widgets"
	const proto, json, metadata = runtime.ContentTypeProtobuf, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	s := play(t, Options{}, func(s *script) {
		for _, test := range []struct {
			method, path   string
			sent           []byte
			accepts, asked string
			code           int // 0 for no answer
			answer         []byte
		}{
			{"GET", deployments + "?watch=1", nil, proto, proto, 200, stream.Bytes()},
			{"PUT", deployments + "/a", encoded("1", 3), proto, proto, 200, encoded("2", 3)},
			{"GET", widgets, nil, metadata, metadata, 200, nil},
			{"GET", widgets, nil, proto, json, 200, nil},
			{"GET", widgets, nil, proto + "," + json, json, 500, []byte(`{"message":"out of order"}`)},
			{"GET", deployments + "?watch=True", nil, json, json, 410, nil},
			{"GET", deployments, nil, asTable + "," + json, asTable + "," + json, 200, []byte(`{"kind":"Table"}`)},
			{"DELETE", deployments + "/a", nil, "*/*", "*/*", 0, nil},
			// Of these nothing is told.
			{"GET", "/apis", nil, proto, proto, 200, nil},
			{"PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/a", nil, json, json, 200, nil},
			{"DELETE", deployments + "/a?dryRun=All", nil, json, json, 200, nil},
			{"GET", "/api/v1/namespaces/default/pods/a/log", nil, json, json, 200, nil},
		} {
			asked := ""
			time.Sleep(time.Millisecond)
			s.next = fake.CreateHTTPClient(func(r *http.Request) (*http.Response, error) {
				asked = r.Header.Get("Accept")
				if test.code == 0 {
					return nil, errors.New("nobody is there")
				}
				return &http.Response{StatusCode: test.code, Header: http.Header{"Content-Type": {proto}}, Body: io.NopCloser(bytes.NewReader(test.answer))}, nil
			}).Transport
			request := httptest.NewRequest(test.method, test.path, bytes.NewReader(test.sent))
			request.Header.Set("Accept", test.accepts)
			response, err := s.RoundTrip(request)
			if asked != test.asked || (err != nil) != (test.code == 0) {
				t.Errorf("%s %s: the API server is asked for %q, and the program got %v", test.method, test.path, asked, err)
			}
			if err != nil {
				continue
			}
			if got, err := io.ReadAll(response.Body); err != nil || !bytes.Equal(got, test.answer) {
				t.Errorf("%s %s: the program got %q, %v", test.method, test.path, got, err)
			}
			_ = response.Body.Close()
		}
	})
	told := ""
	for _, step := range s.Kept(0) {
		told += fmt.Sprintf("%s %s %s | %s | %s\n", step.Part, step.What, step.Key, step.Story, step.Text)
	}
	if diff := cmp.Diff(`stream opened  | watches | deployments.apps in default
stream received default/a | added | Deployment default/a
stream ended  |  | 
request sent default/a |  | 
request answered default/a | sent | PUT /apis/apps/v1/namespaces/default/deployments/a → 200: spec.replicas 1 → 3  (because Deployment default/a was added, 1ms before)
stream listed  | listed | 0 of widgets.example.com
program said  | look | application/vnd.kubernetes.protobuf of widgets.example.com cannot be read here: the API server is asked for JSON
stream listed  | listed | 0 of widgets.example.com
stream refused  | refused | list of widgets.example.com → 500 out of order
stream refused  | refused | watch of deployments.apps in default → 410 
stream listed  | listed | 0 of deployments.apps in default
request sent default/a |  | 
request failed default/a | sent | DELETE /apis/apps/v1/namespaces/default/deployments/a → no answer: nobody is there: is the API server still running?  (because Deployment default/a was added, 7ms before)
`, told); diff != "" {
		t.Errorf("what is told (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{deployments, widgets}, s.collections); diff != "" {
		t.Errorf("what the page has tables of (-want +got):\n%s", diff)
	}
}
