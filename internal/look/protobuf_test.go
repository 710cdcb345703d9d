package look

import (
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// What a program asks for in protobuf it gets, and the story tells it: events, answers and what is
// sent. Where nobody can read it here, the program gets JSON, and the story says so.
func TestProtobuf(t *testing.T) {
	was, now := deployment(), deployment()
	was.Namespace, was.UID, was.ResourceVersion, was.Spec.Replicas = "default", "u", "1", new(int32(1))
	now.Namespace, now.UID, now.ResourceVersion, now.Spec.Replicas = "default", "u", "2", new(int32(3))
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), appsv1.SchemeGroupVersion)
	encoded := func(object runtime.Object) []byte {
		text, err := runtime.Encode(encoder, object)
		if err != nil {
			t.Error(err)
		}
		return text
	}
	accepts := make(chan string, 9)
	g, config := before(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepts <- r.Header.Get("Accept")
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		switch {
		case r.URL.Query().Has("watch"):
			event, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: encoded(was)}}).Marshal()
			if err != nil {
				t.Error(err)
			}
			_, _ = protobuf.LengthDelimitedFramer.NewFrameWriter(w).Write(event)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case r.Method == http.MethodPut:
			_, _ = w.Write(encoded(now))
		}
	}))
	for len(accepts) > 0 {
		<-accepts // of discovery
	}
	config.ContentType = runtime.ContentTypeProtobuf
	client := kubernetes.NewForConfigOrDie(config)
	watching, err := client.AppsV1().Deployments("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	if event := <-watching.ResultChan(); event.Object.(*appsv1.Deployment).Name != "a" {
		t.Errorf("the program got %v", event)
	}
	if updated, err := client.AppsV1().Deployments("default").Update(t.Context(), now, metav1.UpdateOptions{}); err != nil || *updated.Spec.Replicas != 3 {
		t.Errorf("the program got %v, %v", updated, err)
	}
	wait(t, g, `deployments/a → 200: spec.replicas 1 → 3  \(because \S+ default/a was added, `)
	for range 2 {
		if accept := <-accepts; !strings.HasPrefix(accept, runtime.ContentTypeProtobuf) {
			t.Errorf("the API server is asked for %q", accept)
		}
	}
	_ = client.RESTClient().Get().AbsPath("/apis/example.com/v1/widgets").Do(t.Context())
	if accept := <-accepts; strings.Contains(accept, "protobuf") {
		t.Errorf("the API server is asked for %q", accept)
	}
	wait(t, g, "application/vnd.kubernetes.protobuf of widgets.example.com cannot be read here")
}
