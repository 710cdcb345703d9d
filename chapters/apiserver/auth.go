package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// user is a request's user, and later also the request's verb and resource.
type user = authorizationv1.SubjectAccessReviewSpec

// frontProxy identifies users. The API server has authenticated the client, and passes its name in
// headers. Any client can send such headers, so this server accepts them only on a connection with
// the API server's certificate.
type frontProxy struct {
	roots *x509.CertPool
	names []string // CommonNames, since the CA may sign other certificates
}

// newFrontProxy reads the ConfigMap in which the API server publishes its front proxy's identity.
func newFrontProxy(data map[string]string) (*frontProxy, error) {
	p := &frontProxy{roots: x509.NewCertPool()}
	if !p.roots.AppendCertsFromPEM([]byte(data["requestheader-client-ca-file"])) {
		return nil, errors.New("the cluster names no front proxy, so the headers would prove nothing; recreate the cluster (make cluster-down, make cluster), or start its API server with --requestheader-client-ca-file")
	}
	// An empty list would mean any client with a certificate of this CA.
	err := json.Unmarshal([]byte(data["requestheader-allowed-names"]), &p.names)
	if err != nil || len(p.names) == 0 {
		return nil, fmt.Errorf("requestheader-allowed-names must list names, and is %q", data["requestheader-allowed-names"])
	}
	return p, nil
}

// check makes the TLS server verify client certificates. authenticate rejects a client without one.
func (p *frontProxy) check(config *tls.Config) {
	config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, p.roots
}

// authenticate returns the user that the front proxy names. An API server always uses these headers.
func (p *frontProxy) authenticate(r *http.Request) (user, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return user{}, errors.New("no client certificate of its CA")
	}
	if name := r.TLS.VerifiedChains[0][0].Subject.CommonName; !slices.Contains(p.names, name) {
		return user{}, fmt.Errorf("%q is not the front proxy", name)
	}
	asks := user{
		User: r.Header.Get("X-Remote-User"), UID: r.Header.Get("X-Remote-Uid"), Groups: r.Header.Values("X-Remote-Group"),
		Extra: map[string]authorizationv1.ExtraValue{},
	}
	if asks.User == "" {
		return user{}, errors.New("the front proxy names no user")
	}
	// The API server omits this group for its own requests.
	if !slices.Contains(asks.Groups, "system:unauthenticated") && !slices.Contains(asks.Groups, "system:authenticated") {
		asks.Groups = append(asks.Groups, "system:authenticated")
	}
	// A header's name has the key percent-encoded, in lower case.
	for name, values := range r.Header {
		key, ok := strings.CutPrefix(strings.ToLower(name), "x-remote-extra-")
		if unescaped, err := url.PathUnescape(key); ok && err == nil {
			asks.Extra[unescaped] = values
		}
	}
	return asks, nil
}

// reviewer asks the API server: only the cluster's roles apply, a new role at once.
type reviewer struct{ client kubernetes.Interface }

func (v reviewer) authorize(r *http.Request, asks user) *apierrors.StatusError {
	review := &authorizationv1.SubjectAccessReview{Spec: asks}
	answer, err := v.client.AuthorizationV1().SubjectAccessReviews().Create(r.Context(), review, metav1.CreateOptions{})
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("ask whether %s may do this: %w", asks.User, err))
	}
	if answer.Status.Allowed && !answer.Status.Denied {
		return nil
	}
	why := cmp.Or(answer.Status.EvaluationError, answer.Status.Reason, "the API server does not allow it")
	return apierrors.NewForbidden(resource, "", fmt.Errorf("user %q cannot %s %s: %s", asks.User, r.Method, r.URL.Path, why))
}
