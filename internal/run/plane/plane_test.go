package plane

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// late is a discovery that returns an error first, then one kind, and two kinds in the third call.
type late struct {
	discovery.ServerResourcesInterface
	asked int
}

func (l *late) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	l.asked++
	kinds := []metav1.APIResource{{Name: "foos"}, {Name: "desks"}}
	switch l.asked {
	case 1:
		return nil, nil, errors.New("not yet")
	case 2:
		kinds = kinds[:1]
	}
	return nil, []*metav1.APIResourceList{{GroupVersion: "example.com/v1", APIResources: kinds}}, nil
}

// The API server may need a while to serve a CRD. The error names a CRD that it never serves.
func TestServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := &late{}
		if err := served(kube, []string{"foos.example.com", "desks.example.com"}); err != nil || kube.asked != 3 {
			t.Errorf("%d discovery calls, want 3; error %v", kube.asked, err)
		}
		if err := served(kube, []string{"foos.example.com", "foos.example.org"}); err == nil || !strings.Contains(err.Error(), "serve foos.example.org:") {
			t.Errorf("error %v, want one that names foos.example.org", err)
		}
	})
}
