// Package connect connects a program to its API server. Each error is one line that says what to do next.
package connect

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/features"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // auth-provider oidc
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/flowcontrol"
)

// timeout bounds each request of Check.
const timeout = 10 * time.Second

// Options select the API server, and limit the requests.
type Options struct {
	// Kubeconfig is a file, and Context one of its contexts. If empty, kubectl's default applies.
	Kubeconfig, Context string
	// QPS is the number of requests per second of all clients together, and Burst the number of additional
	// requests for a moment. A negative QPS means no limit.
	QPS   float64
	Burst int
}

// Config returns the configuration of the clients, and its namespace. It supports everything that kubectl
// supports, including the auth-provider oidc. Its error says what to do.
func Config(o Options) (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath, rules.WarnIfAllMissing = o.Kubeconfig, false
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	kubeconfig, err := loader.RawConfig()
	if err != nil {
		return nil, "", ExplainConfig(err)
	}
	files := rules.GetLoadingPrecedence()
	if !clientcmdapi.IsConfigEmpty(&kubeconfig) {
		if err := complete(kubeconfig, cmp.Or(o.Context, kubeconfig.CurrentContext)); err != nil {
			return nil, "", fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
		}
	}
	switch config, err = loader.ClientConfig(); {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", fmt.Errorf("no cluster is configured: %s, and this is no Pod. Give --kubeconfig FILE; in byhand's folder `make cluster` starts a cluster and prints its file", withoutCluster(files))
	case err != nil:
		return nil, "", ExplainConfig(err)
	}
	if err := hidePassword(config); err != nil {
		return nil, "", err
	}
	Limit(config, o.QPS, o.Burst)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return wary{next} })
	namespace, _, _ = loader.Namespace()
	return config, namespace, nil
}

// wary prevents three silent actions of client-go. It does not limit the size of a response, because a list may
// have any size.
type wary struct{ next http.RoundTripper }

// patience is the number of seconds by which a server may delay a read. An informer gets no events meanwhile.
const patience = 30

// RoundTrip implements http.RoundTripper.
func (t wary) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// Following a redirect would send the credentials to another host, and turn a write into a GET, which
	// succeeds. No API server sends one.
	response.Header.Del("Location")
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	switch {
	case r.Method != http.MethodGet:
		// client-go would repeat a write up to ten times in one call. Only a reconcile, which has a back-off,
		// may repeat it.
		response.Header.Del("Retry-After")
	case seconds > patience:
		response.Header.Set("Retry-After", strconv.Itoa(patience))
	}
	return response, nil
}

// errAddress replaces an error that shows an address: a part of that may be a password.
var errAddress = errors.New("the kubeconfig is broken: the address of its server or proxy cannot be read. It is https://HOST:PORT; user and password do not belong there, but a user's username and password")

// hidePassword moves user and password from the host, which is shown, to their fields. A host may have no
// scheme. An unreadable host is an error, and so is an @ in its path, as in https://user:12/34@host.
func hidePassword(config *rest.Config) error {
	scheme, rest, found := strings.Cut(config.Host, "://")
	if !found {
		scheme, rest = "", config.Host
	}
	host, err := url.Parse("//" + rest)
	if err != nil || !slices.Contains([]string{"", "http", "https"}, strings.ToLower(scheme)) {
		return errAddress
	}
	if host.User != nil {
		config.Username = cmp.Or(config.Username, host.User.Username())
		if password, ok := host.User.Password(); ok {
			config.Password = cmp.Or(config.Password, password)
		}
		host.Scheme, host.User = scheme, nil
		config.Host = strings.TrimPrefix(host.String(), "//")
	}
	if strings.Contains(config.Host, "@") {
		return errAddress
	}
	return nil
}

// complete returns an error if a context, its cluster or its user is missing.
func complete(kubeconfig clientcmdapi.Config, name string) error {
	context, found := kubeconfig.Contexts[name]
	switch {
	case name == "":
		return errors.New("no current-context: `kubectl config use-context NAME` sets it, and `kubectl config get-contexts` lists the names")
	case !found:
		return fmt.Errorf("context %q does not exist: `kubectl config get-contexts` lists the names", name)
	}
	if cluster, found := kubeconfig.Clusters[context.Cluster]; !found || cluster.Server == "" {
		return fmt.Errorf("context %q names the cluster %q, which is missing or has no server", name, context.Cluster)
	}
	if _, found := kubeconfig.AuthInfos[context.AuthInfo]; !found && context.AuthInfo != "" {
		return fmt.Errorf("context %q names the user %q, which is missing", name, context.AuthInfo)
	}
	return nil
}

// withoutCluster returns for each file the reason why it configures no cluster.
func withoutCluster(files []string) string {
	reasons := make([]string, len(files))
	for i, file := range files {
		reasons[i] = file + " does not exist"
		if _, err := os.Stat(file); err == nil {
			reasons[i] = file + " is empty"
		}
	}
	return strings.Join(reasons, ", ")
}

// ExplainConfig explains an error that client-go returns for a kubeconfig, or for a configuration made from
// it. It returns nil for nil.
func ExplainConfig(err error) error {
	var unreadable *url.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unreadable), strings.Contains(err.Error(), "'proxy-url'"), strings.Contains(err.Error(), "host must be a URL"):
		return errAddress
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return fmt.Errorf("cannot read the kubeconfig: %w", err)
	default:
		return fmt.Errorf("the kubeconfig is broken: %w", err)
	}
}

// Limit limits the requests of all clients made from config together: qps requests a second, and burst more for
// a moment. A negative qps means no limit. Without Limit each group's client has a separate limiter.
func Limit(config *rest.Config, qps float64, burst int) {
	config.QPS, config.Burst = float32(qps), burst
	if qps > 0 {
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, burst)
	}
}

// oldest is the first Kubernetes with streaming lists, with which client-go's Reflector begins.
var oldest = utilversion.MustParseGeneric("1.27")

// Check requests the server's version and the groups that the program needs. Its error names the missing group.
// It waits 10 s for each response.
func Check(ctx context.Context, server discovery.DiscoveryInterfaces, host string, groups ...schema.GroupVersion) (*version.Info, error) {
	answer, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	info, err := server.ServerVersionWithContext(answer)
	if err != nil {
		return nil, explainRequest(ctx, err, host)
	}
	if v, err := utilversion.ParseGeneric(info.GitVersion); err == nil && v.LessThan(oldest) && features.FeatureGates().Enabled(features.WatchListClient) {
		return nil, fmt.Errorf("%s is Kubernetes %s, which does not know streaming lists: take %s or newer, or set KUBE_FEATURE_WatchListClient=false in the environment", host, info.GitVersion, oldest)
	}
	for _, group := range groups {
		if err := CheckGroup(ctx, server, host, group); err != nil {
			return nil, err
		}
	}
	return info, nil
}

// CheckGroup requests one group, and resources in it, such as foos and foos/status. Its error is like Check's.
func CheckGroup(ctx context.Context, server discovery.DiscoveryInterfaces, host string, group schema.GroupVersion, resources ...string) error {
	answer, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	served, err := server.ServerResourcesForGroupVersionWithContext(answer, group.String())
	switch {
	case apierrors.IsNotFound(err):
		return notServed(host, group.String())
	case err != nil:
		return explainRequest(ctx, err, host)
	}
	for _, resource := range resources {
		if !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }) {
			return notServed(host, resource+" of "+group.String())
		}
	}
	return nil
}

func notServed(host, what string) error {
	return fmt.Errorf("%s does not serve %s: install the CustomResourceDefinitions with `kubectl apply -f config/crd` (or config/crd.yaml)", host, what)
}

const isRunning = "is the cluster running, and is this its address? (in byhand's folder `make cluster` starts one)"

func explainRequest(ctx context.Context, err error, host string) error {
	var network net.Error
	var connection *net.OpError
	var otherName x509.HostnameError
	var unknown x509.UnknownAuthorityError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not accept the kubeconfig's credentials (401): they may have expired, or belong to another cluster", host)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s refuses: %w: the kubeconfig's user lacks a permission (config/rbac has the permissions that the program needs)", host, err)
	case strings.Contains(err.Error(), "getting credentials: "):
		// The error of an exec plugin has several lines if the program is not installed.
		return fmt.Errorf("the kubeconfig's exec plugin failed, and stderr has its own message: %s", strings.Join(strings.Fields(err.Error()), " "))
	case errors.As(err, &otherName):
		return fmt.Errorf("%s has a certificate for other names: %w: set tls-server-name in the kubeconfig to one of them", host, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s has a certificate that the kubeconfig does not trust: %w: check certificate-authority in the kubeconfig", host, err)
	case errors.As(err, &connection) && connection.Op == "proxyconnect":
		return fmt.Errorf("%s: the proxy (proxy-url in the kubeconfig, or $HTTPS_PROXY) cannot be reached: %w", host, err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("%s does not answer: %w: %s", host, err, isRunning)
	case errors.As(err, &connection):
		return fmt.Errorf("%s cannot be reached: %w: %s", host, err, isRunning)
	default:
		return fmt.Errorf("%s: %w", host, err)
	}
}
