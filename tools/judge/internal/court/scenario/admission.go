package scenario

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/tools/judge/internal/court/stage"
)

// Rejections and changes by admission control, which the proxy plays.

var DryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// oneDeployment takes steps while a quota admits only one Deployment.
func oneDeployment(steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		s.Proxy.Intercept(Refusing(http.StatusForbidden, http.MethodPost)(s))
		defer s.Proxy.Intercept(nil)
		s.Take(steps...)
	}
}

// ownerStripped takes steps while a policy removes the owner references of new Deployments.
func ownerStripped(steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		s.Mutate(func(r *http.Request, object stage.Object) {
			if r.Method == http.MethodPost && WritesMade(s, r) {
				delete(object["metadata"].(stage.Object), "ownerReferences")
			}
		})
		defer s.Mutate(nil)
		s.Take(steps...)
	}
}
