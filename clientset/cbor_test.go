package clientset_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/tests/samples"
)

// With client-go's feature gates for CBOR, requests and responses are CBOR. A client whose codec
// supports only JSON would fail.
func TestCBOR(t *testing.T) {
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.ClientsAllowCBOR, true)
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.ClientsPreferCBOR, true)

	eachKind(t, testCBOR)
}

func testCBOR(t *testing.T, k kind) {
	codec := cbor.NewSerializer(clientset.Scheme, clientset.Scheme)
	var accepted, contentType string
	var sent []byte
	client := newClient(t, serve(t, func(w http.ResponseWriter, got *http.Request) {
		accepted, contentType = got.Header.Get("Accept"), got.Header.Get("Content-Type")
		sent, _ = io.ReadAll(got.Body)
		object, err := runtime.Decode(clientset.Codecs.UniversalDeserializer(), []byte(k.objectWire()))
		if err != nil {
			t.Error(err)
			return
		}
		w.Header().Set("Content-Type", "application/cbor")
		if err := codec.Encode(object, w); err != nil {
			t.Error(err)
		}
	}))

	got, err := samples.Call(t.Context(), k.Client(client, "shop"), "Get", "one", metav1.GetOptions{})
	if err != nil || !strings.HasPrefix(accepted, "application/cbor") {
		t.Fatalf("Get accepts %q: %v", accepted, err)
	}
	if diff := cmp.Diff(any(k.Object), got, cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}

	if _, err := samples.Call(t.Context(), k.Client(client, "shop"), "Create", k.Object, metav1.CreateOptions{}); err != nil || contentType != "application/cbor" {
		t.Fatalf("Create sends %q: %v", contentType, err)
	}
	// The self-described CBOR tag of RFC 8949, section 3.4.6.
	if !bytes.HasPrefix(sent, []byte{0xd9, 0xd9, 0xf7}) {
		t.Errorf("Create sends %q", sent)
	}
}
