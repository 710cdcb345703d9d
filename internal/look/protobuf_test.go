package look

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest/fake"
)

// What a program asks for in protobuf it gets, and the story tells it: events, answers and what is
// sent. Where nobody can read it here, JSON is asked for, and the story says so.
func TestProtobuf(t *testing.T) {
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
	const metadata = runtime.ContentTypeProtobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	s := newScript(t, Options{})
	for _, test := range []struct {
		method, path   string
		sent           []byte
		accepts, asked string
		answer         []byte
	}{
		{http.MethodGet, deployments + "?watch=1", nil, runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf, stream.Bytes()},
		{http.MethodPut, deployments + "/a", encoded("1", 3), runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf, encoded("2", 3)},
		{http.MethodGet, widgets, nil, metadata, metadata, nil},
		{http.MethodGet, widgets, nil, runtime.ContentTypeProtobuf, runtime.ContentTypeJSON, nil},
	} {
		asked := ""
		s.next = fake.CreateHTTPClient(func(r *http.Request) (*http.Response, error) {
			asked = r.Header.Get("Accept")
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {runtime.ContentTypeProtobuf}}, Body: io.NopCloser(bytes.NewReader(test.answer))}, nil
		}).Transport
		request := httptest.NewRequest(test.method, test.path, bytes.NewReader(test.sent))
		request.Header.Set("Accept", test.accepts)
		response, err := s.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(response.Body); err != nil || !bytes.Equal(got, test.answer) || asked != test.asked {
			t.Errorf("%s %s: the API server is asked for %q, and the program got %q, %v", test.method, test.path, asked, got, err)
		}
	}
	s.finish()
	for _, line := range []string{
		`deployments/a → 200: spec.replicas 1 → 3  \(because \S+ default/a was added, `,
		"application/vnd.kubernetes.protobuf of widgets.example.com cannot be read here",
	} {
		if !regexp.MustCompile(line).MatchString(s.story()) {
			t.Errorf("nothing tells %q:\n%s", line, s.story())
		}
	}
}
