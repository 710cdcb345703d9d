package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A kubeconfig is YAML, and the standard library reads none. But all that is needed from
// one that kubectl wrote are a few lines "field: value". Their place does not matter as long
// as there is one cluster and one user.

// wanted are the fields to read. refused are those that would change how to connect.
var (
	wanted = []string{"server", "certificate-authority", "certificate-authority-data", "token", "tokenFile",
		"client-certificate", "client-certificate-data", "client-key", "client-key-data"}
	refused = []string{"exec", "auth-provider", "username", "password", "as", "proxy-url", "tls-server-name", "insecure-skip-tls-verify"}
)

// connect returns the address of the API server that a kubeconfig names, the token to show there, if there
// is one, and an HTTP client with the certificates. Its error says what to do.
func connect(file string) (server, token string, client *http.Client, err error) {
	if file == "" {
		return "", "", nil, errors.New("which cluster? Give --kubeconfig FILE, or set $KUBECONFIG; `make cluster` starts one and prints its file")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", "", nil, fmt.Errorf("cannot read the kubeconfig: %w", err)
	}
	config, err := parse(string(content))
	if err == nil {
		server = strings.TrimSuffix(config["server"], "/")
		token, client, err = newClient(config, filepath.Dir(file))
	}
	if err != nil {
		return "", "", nil, fmt.Errorf("cannot use the kubeconfig %s: %w", file, err)
	}
	return server, token, client, nil
}

// parse returns the wanted fields of a kubeconfig with one cluster and one user.
func parse(content string) (map[string]string, error) {
	const simpler = "this program reads only simple files: `kubectl config view --raw --minify --flatten > simple.yaml` writes one"
	config := map[string]string{}
	for line := range strings.Lines(content) {
		// A line is `field: value`, or `- field: value`.
		field, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- "), ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch {
		case slices.Contains(refused, field) && value != "false":
			return nil, fmt.Errorf("it has %q, and this program knows only a server, its certificate authority, and a client certificate or a token (`kubectl create token NAME` makes one for a ServiceAccount)", field)
		case !slices.Contains(wanted, field) || value == "":
			continue
		case strings.ContainsAny(value, "|>{}[]&* #"):
			return nil, fmt.Errorf("it has a %q in a form that is not simple, and %s", field, simpler)
		case config[field] != "":
			return nil, fmt.Errorf("it has more than one %q, and %s", field, simpler)
		}
		config[field] = value
	}
	if config["server"] == "" {
		return nil, fmt.Errorf("it has no \"server\" on a line of its own, and %s", simpler)
	}
	return config, nil
}

// newClient returns the user's token, and a client that trusts the cluster's certificate authority and
// shows the user's certificate. The paths of files are relative to dir.
func newClient(config map[string]string, dir string) (token string, client *http.Client, err error) {
	// read returns what stands in the kubeconfig itself, or in the file that it names.
	read := func(field string) (content []byte, err error) {
		if data := config[field+"-data"]; data != "" {
			content, err = base64.StdEncoding.DecodeString(data)
		} else if path := config[field]; filepath.IsAbs(path) {
			content, err = os.ReadFile(path)
		} else if path != "" {
			content, err = os.ReadFile(filepath.Join(dir, path))
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", field, err)
		}
		return content, err
	}
	authority, err1 := read("certificate-authority")
	certificate, err2 := read("client-certificate")
	key, err3 := read("client-key")
	fromFile, err4 := read("tokenFile")
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return "", nil, err
	}

	trust := &tls.Config{}
	if authority != nil {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(authority) {
			return "", nil, errors.New("certificate-authority: no certificate in PEM form")
		}
	}
	if certificate != nil || key != nil {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return "", nil, fmt.Errorf("client-certificate and client-key: %w", err)
		}
		trust.Certificates = []tls.Certificate{pair}
	}
	return strings.TrimSpace(cmp.Or(string(fromFile), config["token"])), &http.Client{
		Transport: &http.Transport{TLSClientConfig: trust, Proxy: http.ProxyFromEnvironment},
		// No redirect is followed: another host would see the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// explain adds to an error what to do.
func explain(err error) error {
	var refused *refusal
	var network *url.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Code == http.StatusUnauthorized:
		return fmt.Errorf("%w: the kubeconfig's credentials may have expired, or belong to another cluster", err)
	case errors.As(err, &refused) && refused.Code == http.StatusForbidden:
		return fmt.Errorf("%w: chapters/http/config/rbac lists the rights that this program needs", err)
	case errors.As(err, &refused) && refused.Code == http.StatusNotFound:
		return fmt.Errorf("%w: `kubectl apply -f config/crd` installs the CRD of Foos", err)
	case errors.As(err, &network) && strings.Contains(err.Error(), "x509:"):
		return fmt.Errorf("%w: check certificate-authority in the kubeconfig", err)
	case errors.As(err, &network):
		return fmt.Errorf("%w: is the cluster running, and is this its address? (`make cluster` starts one)", err)
	default:
		return fmt.Errorf("%w: start it again (README.md says why it does not go on by itself)", err)
	}
}
