package main

import (
	"context"
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
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

// user is who asks, as a SubjectAccessReview names them.
type user = authorizationv1.SubjectAccessReviewSpec

// frontProxy tells who asks. The API server has authenticated the client already, and says
// in headers who it is. Any client can write headers, so they count only on a connection whose
// certificate proves that the API server has written them. There is no other way in.
type frontProxy struct{ trusted *trust }

// trust is whom the API server calls its front proxy.
type trust struct {
	roots *x509.CertPool
	// names are the CommonNames that count. The CA may have signed for others, too.
	names []string
}

// read reads it from the API server, once: a CA that changes needs a restart.
func (p *frontProxy) read(ctx context.Context, client kubernetes.Interface) error {
	const name = "extension-apiserver-authentication"
	config, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("whom to trust: %w", err)
	}
	if p.trusted, err = newTrust(config.Data); err != nil {
		return fmt.Errorf("ConfigMap %s/%s: %w", metav1.NamespaceSystem, name, err)
	}
	return nil
}

func newTrust(data map[string]string) (*trust, error) {
	ca := data["requestheader-client-ca-file"]
	if ca == "" {
		return nil, errors.New("the cluster knows no front proxy, so the headers would prove nothing; make the cluster anew (make cluster-down, make cluster), or start its API server with --requestheader-client-ca-file")
	}
	t := &trust{roots: x509.NewCertPool()}
	if !t.roots.AppendCertsFromPEM([]byte(ca)) {
		return nil, errors.New("requestheader-client-ca-file has no certificate")
	}
	// None would mean: each client for whom this CA has signed.
	err := json.Unmarshal([]byte(data["requestheader-allowed-names"]), &t.names)
	if err != nil || len(t.names) == 0 {
		return nil, fmt.Errorf("requestheader-allowed-names must list names, and is %q", data["requestheader-allowed-names"])
	}
	return t, nil
}

// authenticate returns who asks, by the front proxy's word. The names of the headers are
// those that the API server always sends. The flags that name some are for a front proxy
// before it.
func (p *frontProxy) authenticate(r *http.Request) (user, error) {
	if err := p.trusted.verify(r); err != nil {
		return user{}, err
	}
	asks := user{
		User: r.Header.Get("X-Remote-User"), UID: r.Header.Get("X-Remote-Uid"), Groups: r.Header.Values("X-Remote-Group"),
		Extra: map[string]authorizationv1.ExtraValue{},
	}
	if asks.User == "" {
		return user{}, errors.New("the front proxy does not say who asks")
	}
	// The API server leaves this group out when it asks for itself.
	if !slices.Contains(asks.Groups, "system:unauthenticated") && !slices.Contains(asks.Groups, "system:authenticated") {
		asks.Groups = append(asks.Groups, "system:authenticated")
	}
	// A header's name cannot have each character, so keys are percent-encoded; and it has
	// no case, so they are in lower case.
	for name, values := range r.Header {
		key, ok := strings.CutPrefix(strings.ToLower(name), "x-remote-extra-")
		if unescaped, err := url.PathUnescape(key); ok && err == nil {
			asks.Extra[unescaped] = values
		}
	}
	return asks, nil
}

// verify returns an error unless the front proxy has sent a request.
func (t *trust) verify(r *http.Request) error {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return errors.New("no client certificate")
	}
	certificate := r.TLS.PeerCertificates[0]
	options := x509.VerifyOptions{Roots: t.roots, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, intermediate := range r.TLS.PeerCertificates[1:] {
		options.Intermediates.AddCert(intermediate)
	}
	if _, err := certificate.Verify(options); err != nil {
		return fmt.Errorf("client certificate: %w", err)
	}
	if !slices.Contains(t.names, certificate.Subject.CommonName) {
		return fmt.Errorf("%q is not the front proxy", certificate.Subject.CommonName)
	}
	return nil
}

// reviewer asks the API server whether a user may do something. So the cluster's roles
// are the only ones, and a new one counts at once: nothing is remembered. A production
// server remembers each answer for some seconds.
type reviewer struct{ client kubernetes.Interface }

func (v reviewer) authorize(ctx context.Context, r *request) error {
	review := &authorizationv1.SubjectAccessReview{Spec: r.user}
	if r.kind == nil {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: r.URL.Path, Verb: r.verb}
	} else {
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Verb: r.verb, Group: group, Version: r.version.Version, Resource: r.kind.resource,
			Subresource: r.subresource, Namespace: r.namespace, Name: reviewedName(r),
		}
	}
	answer, err := v.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("ask whether %s may do this: %w", r.user.User, err))
	}
	if answer.Status.Allowed {
		return nil
	}
	what := fmt.Sprintf("path %q", r.URL.Path)
	if r.kind != nil {
		what = fmt.Sprintf("resource %q in API group %q", strings.TrimSuffix(r.kind.resource+"/"+r.subresource, "/"), group)
	}
	return apierrors.NewForbidden(r.kind.groupResource(), r.name, fmt.Errorf("user %q cannot %s %s", r.user.User, r.verb, what))
}

// reviewedName is what a role with resourceNames must have. A list or a watch of one object has its
// name in a selector.
func reviewedName(r *request) (name string) {
	selector, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil || r.verb != "list" && r.verb != "watch" {
		return r.name
	}
	name, _ = selector.RequiresExactMatch("metadata.name")
	return name
}
