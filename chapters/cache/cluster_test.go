//go:build integration || bare

package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/chapters/internal/chaptertest"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

// fill creates n Secrets of this size in each of these namespaces, and as many FieldFoos. The first Secret
// has the wanted label and type, the first FieldFoo the wanted deploymentName.
func fill(c *chaptertest.Cluster, namespaces []string, n, size int) {
	c.Helper()
	workqueue.ParallelizeUntil(c.Context(), 16, n*len(namespaces), func(i int) {
		secret := &corev1.Secret{Data: map[string][]byte{"data": make([]byte, size)}, Type: corev1.SecretTypeOpaque}
		namespace, number, deployment := namespaces[i%len(namespaces)], i/len(namespaces), "other"
		if secret.Name = fmt.Sprint("secret-", number); number == 0 {
			secret.Type, secret.Labels, deployment = "example.com/wanted", map[string]string{"cache": "wanted"}, "wanted"
		}
		if _, err := c.Kube.CoreV1().Secrets(namespace).Create(context.Background(), secret, metav1.CreateOptions{}); err != nil {
			c.Error(err)
		}
		foo := fmt.Sprintf(`{"apiVersion":"cache.examples-gzh.com/v1alpha1","kind":"FieldFoo","metadata":{"name":"foo-%d"},"spec":{"deploymentName":%q}}`, number, deployment)
		if err := c.Kube.Discovery().RESTClient().Post().AbsPath("/apis/cache.examples-gzh.com/v1alpha1/namespaces", namespace, "fieldfoos").Body([]byte(foo)).Do(context.Background()).Error(); err != nil {
			c.Error(err)
		}
	})
}
