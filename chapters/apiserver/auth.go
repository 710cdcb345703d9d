package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// user is who asks.
type user struct {
	name, uid string
	groups    []string
	extra     map[string][]string
}

// frontProxy tells who asks. The API server has authenticated the client already, and says
// in headers who it is. Anybody can write headers, so they count only on a connection whose
// certificate proves that the API server has written them. There is no other way in.
type frontProxy struct{ trusted atomic.Pointer[proxyTrust] }

// proxyTrust is what the API server publishes about itself, as the front proxy.
type proxyTrust struct {
	roots *x509.CertPool
	// names are the CommonNames that count. The CA may have signed for others, too.
	names                                                []string
	nameHeaders, uidHeaders, groupHeaders, extraPrefixes []string
}

// read reads it from the API server. It may change, so it is read again and again.
func (p *frontProxy) read(ctx context.Context, client kubernetes.Interface) error {
	const name = "extension-apiserver-authentication"
	config, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("whom to trust: %w", err)
	}
	trust, err := newProxyTrust(config.Data)
	if err != nil {
		return fmt.Errorf("ConfigMap %s/%s: %w", metav1.NamespaceSystem, name, err)
	}
	p.trusted.Store(trust)
	return nil
}

func newProxyTrust(data map[string]string) (*proxyTrust, error) {
	if data["requestheader-client-ca-file"] == "" {
		return nil, errors.New("the cluster knows no front proxy, so nobody could tell who asks; make the cluster anew (make cluster-down, make cluster), or start its API server with --requestheader-client-ca-file")
	}
	trust := &proxyTrust{roots: x509.NewCertPool()}
	if !trust.roots.AppendCertsFromPEM([]byte(data["requestheader-client-ca-file"])) {
		return nil, errors.New("requestheader-client-ca-file has no certificate")
	}
	for key, list := range map[string]*[]string{
		"requestheader-allowed-names":        &trust.names,
		"requestheader-username-headers":     &trust.nameHeaders,
		"requestheader-uid-headers":          &trust.uidHeaders,
		"requestheader-group-headers":        &trust.groupHeaders,
		"requestheader-extra-headers-prefix": &trust.extraPrefixes,
	} {
		if data[key] == "" {
			continue
		}
		if err := json.Unmarshal([]byte(data[key]), list); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	// An empty list would mean: everybody whom this CA has signed for.
	if len(trust.names) == 0 || len(trust.nameHeaders) == 0 {
		return nil, errors.New("requestheader-allowed-names and requestheader-username-headers must not be empty")
	}
	return trust, nil
}

// tls asks for a certificate, and leaves it to authenticate to refuse: a refusal in the
// handshake has no words.
func (p *frontProxy) tls(config *tls.Config) *tls.Config {
	config.ClientAuth = tls.RequestClientCert
	config.NextProtos = []string{"h2", "http/1.1"}
	return config
}

// authenticate returns who asks, by the front proxy's word.
func (p *frontProxy) authenticate(r *http.Request) (user, error) {
	trust := p.trusted.Load()
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return user{}, errors.New("no client certificate")
	}
	certificate := r.TLS.PeerCertificates[0]
	options := x509.VerifyOptions{Roots: trust.roots, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, intermediate := range r.TLS.PeerCertificates[1:] {
		options.Intermediates.AddCert(intermediate)
	}
	if _, err := certificate.Verify(options); err != nil {
		return user{}, fmt.Errorf("client certificate: %w", err)
	}
	if !slices.Contains(trust.names, certificate.Subject.CommonName) {
		return user{}, fmt.Errorf("%q is not the front proxy", certificate.Subject.CommonName)
	}
	asks := user{
		name:   first(r.Header, trust.nameHeaders),
		uid:    first(r.Header, trust.uidHeaders),
		groups: all(r.Header, trust.groupHeaders),
		extra:  extra(r.Header, trust.extraPrefixes),
	}
	if asks.name == "" {
		return user{}, errors.New("the front proxy does not say who asks")
	}
	// The API server leaves this group out when it asks for itself.
	if !slices.Contains(asks.groups, "system:unauthenticated") && !slices.Contains(asks.groups, "system:authenticated") {
		asks.groups = append(asks.groups, "system:authenticated")
	}
	return asks, nil
}

func first(header http.Header, names []string) string {
	for _, name := range names {
		if value := header.Get(name); value != "" {
			return value
		}
	}
	return ""
}

func all(header http.Header, names []string) (values []string) {
	for _, name := range names {
		values = append(values, header.Values(name)...)
	}
	return values
}

// extra returns what else is known of the user. The keys are percent-encoded, because a
// header's name cannot have each character, and in lower case, because it has no case.
func extra(header http.Header, prefixes []string) map[string][]string {
	found := map[string][]string{}
	for name, values := range header {
		for _, prefix := range prefixes {
			if len(name) <= len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
				continue
			}
			key := strings.ToLower(name[len(prefix):])
			if unescaped, err := url.PathUnescape(key); err == nil {
				key = unescaped
			}
			found[key] = append(found[key], values...)
		}
	}
	return found
}
