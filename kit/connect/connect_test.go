package connect_test

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/testkit"
)

// All clients share one limiter.
func TestLimit(t *testing.T) {
	for qps, want := range map[float64]float32{5: 5, -1: 0} {
		config := &rest.Config{Host: "http://api.test"}
		connect.Limit(config, qps, 10)
		one := kubernetes.NewForConfigOrDie(config).AppsV1().RESTClient().GetRateLimiter()
		two := kubernetes.NewForConfigOrDie(config).AppsV1().RESTClient().GetRateLimiter()
		if one != two {
			t.Errorf("%v a second: two clientsets have a limiter each", qps)
		}
		if want == 0 && one != nil || want > 0 && one.QPS() != want {
			t.Errorf("%v a second: the limiter is %v", qps, one)
		}
	}
}

// kubeconfig writes a kubeconfig without credentials and returns its path.
func kubeconfig(t *testing.T, cluster clientcmdapi.Cluster) string {
	t.Helper()
	file, err := testkit.WriteKubeconfig(t.TempDir(), cluster, clientcmdapi.AuthInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func load(t *testing.T, server string) *rest.Config {
	t.Helper()
	config, _, err := connect.Config(connect.Options{Kubeconfig: kubeconfig(t, clientcmdapi.Cluster{Server: server, InsecureSkipTLSVerify: true}), QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// A password in the server's address is used and not shown.
func TestPasswordInHost(t *testing.T) {
	for server, want := range map[string]string{"https://user:hunter2@api.test:6443": "https://api.test:6443", "user:hunter2@api.test:6443": "api.test:6443"} {
		loaded := load(t, server)
		if loaded.Host != want || loaded.Username != "user" || loaded.Password != "hunter2" {
			t.Errorf("host %q, user %q, password %q, want host %q", loaded.Host, loaded.Username, loaded.Password, want)
		}
	}
}

// An error does not show an address that cannot be read: a part of it may be a password.
func TestUnreadableAddress(t *testing.T) {
	for _, address := range []string{
		"https://user:se/cret@api.test", "https://user:secret%zz@api.test", "https://user:12?secret@api.test",
		"https:/user:secret@api.test", "user:se://cret@api.test",
	} {
		_, _, err := connect.Config(connect.Options{Kubeconfig: kubeconfig(t, clientcmdapi.Cluster{Server: address})})
		says(t, err, "do not belong there")
		if strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: the error shows the password: %v", address, err)
		}
	}
	_, _, err := connect.Config(connect.Options{Kubeconfig: kubeconfig(t, clientcmdapi.Cluster{Server: "https://api.test", ProxyURL: "https://user:secret%zz@api.test"})})
	says(t, err, "do not belong there")
}

// A write that the server rejects with Retry-After is sent once, and the error is returned at once.
func TestWritesOnce(t *testing.T) {
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent++
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	client := kubernetes.NewForConfigOrDie(load(t, server.URL))
	_, err := client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{}, metav1.CreateOptions{})
	if sent != 1 || !apierrors.IsTooManyRequests(err) {
		t.Errorf("sent %d times, want once; error %v", sent, err)
	}
}

// A redirect is not followed: client-go would show the credentials to the other host.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host is asked, and sees %q", r.Header.Get("Authorization"))
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer server.Close()
	config := load(t, server.URL)
	config.BearerToken = "secret"
	deployments := kubernetes.NewForConfigOrDie(config).AppsV1().Deployments("default")
	_, read := deployments.Get(t.Context(), "d", metav1.GetOptions{})
	// After a redirect, Go's client would send a GET for the DELETE, and the GET succeeds.
	if wrote := deployments.Delete(t.Context(), "d", metav1.DeleteOptions{}); read == nil || wrote == nil {
		t.Errorf("GET: %v, DELETE: %v, want errors", read, wrote)
	}
}

// If a server asks to wait for an hour, the read is retried after half a minute. Otherwise an informer would
// get no events for an hour.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := testkit.NewAPIServer()
		server.Intercept(func(w http.ResponseWriter, _ *http.Request) bool {
			if len(server.Log()) == 1 {
				testkit.WriteError(w, apierrors.NewTooManyRequests("", 3600))
			}
			return len(server.Log()) == 1
		})
		config := load(t, "http://api.test")
		config.Transport = server.Config().Transport
		began := time.Now()
		_, err := kubernetes.NewForConfigOrDie(config).AppsV1().Deployments("default").List(t.Context(), metav1.ListOptions{})
		if took := time.Since(began); err != nil || took != 30*time.Second {
			t.Errorf("after %s: %v, want 30 s", took, err)
		}
	})
}

// says checks that an error is one line with each of these texts.
func says(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatalf("want one line, got %v", err)
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the line does not say %q:\n%v", text, err)
		}
	}
}

// kubeconfigWith returns a kubeconfig with one context, whose cluster and user have these fields.
func kubeconfigWith(cluster, user string) string {
	return fmt.Sprintf("{current-context: dev, contexts: [{name: dev, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {%s}}], users: [{name: u, user: {%s}}]}", cluster, user)
}

// paths answers 404, except for these paths.
func paths(answers map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, found := answers[r.URL.Path]
		if !found {
			testkit.WriteError(w, apierrors.NewNotFound(schema.GroupResource{}, ""))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
}

// Each mistake gets one line that names its cause and says what to do next.
func TestMistakes(t *testing.T) {
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	// Nothing listens on port 1: servers of other tests get ports above 1023.
	const closed = "server: 'https://127.0.0.1:1'"
	const server = "server: 'http://api.test'"
	const versionOnly = `{"gitVersion": "v1.37.0"}`
	idToken := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"exp": 99999999999}`)) + ".e30"
	refuse := func(err *apierrors.StatusError) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { testkit.WriteError(w, err) }
	}

	home := filepath.Join(t.TempDir(), "home")
	defer func(before string) { clientcmd.RecommendedHomeFile = before }(clientcmd.RecommendedHomeFile)
	clientcmd.RecommendedHomeFile = home
	file := filepath.Join(t.TempDir(), "file")
	for _, test := range []struct {
		reason     string
		kubeconfig string // what the file contains
		variable   string // $KUBECONFIG
		options    connect.Options
		handler    http.Handler // answers instead of the kubeconfig's server
		want       []string
	}{
		{reason: "no kubeconfig anywhere", want: []string{"no cluster is configured: " + home + " does not exist, and this is no Pod", "--kubeconfig FILE", "make cluster"}},
		{reason: "$KUBECONFIG without a cluster", variable: "/nowhere/config:" + file, want: []string{"no cluster is configured: /nowhere/config does not exist, " + file + " is empty"}},
		{reason: "no such file", options: connect.Options{Kubeconfig: "/nowhere/config"}, want: []string{"cannot read the kubeconfig", "/nowhere/config"}},
		{reason: "an empty file", options: connect.Options{Kubeconfig: file}, want: []string{"no cluster is configured: " + file + " is empty"}},
		{reason: "no YAML", kubeconfig: "clusters: [", variable: file, want: []string{"the kubeconfig is broken", file}},
		{reason: "no current-context", kubeconfig: "clusters: [{name: c, cluster: {server: x}}]", variable: file, want: []string{file + ": no current-context", "kubectl config use-context"}},
		{reason: "no such context", kubeconfig: kubeconfigWith(server, ""), variable: file, options: connect.Options{Context: "elsewhere"}, want: []string{file + `: context "elsewhere" does not exist`, "get-contexts"}},
		{reason: "no such cluster", kubeconfig: "{current-context: dev, contexts: [{name: dev, context: {cluster: gone}}]}", variable: file, want: []string{file + `: context "dev" names the cluster "gone", which is missing`}},
		{reason: "no such user", kubeconfig: "{current-context: dev, contexts: [{name: dev, context: {cluster: c, user: gone}}], clusters: [{name: c, cluster: {server: x}}]}", variable: file, want: []string{file + `: context "dev" names the user "gone", which is missing`}},

		{reason: "an exec plugin fails", kubeconfig: kubeconfigWith(closed, "exec: {apiVersion: client.authentication.k8s.io/v1, command: 'false', interactiveMode: Never}"), variable: file, want: []string{"the kubeconfig's exec plugin failed", "false failed with exit code 1"}},
		{reason: "an exec plugin is not installed", kubeconfig: kubeconfigWith(closed, "exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere/plugin, interactiveMode: Never}"), variable: file, want: []string{"the kubeconfig's exec plugin failed", "/nowhere/plugin"}},
		{reason: "another server name", kubeconfig: kubeconfigWith("server: '"+secure.URL+"', tls-server-name: other.test, certificate-authority-data: "+ca, ""), variable: file, want: []string{"certificate for other names", "not other.test", "set tls-server-name"}},
		{reason: "an unknown CA", kubeconfig: kubeconfigWith("server: '"+secure.URL+"'", ""), variable: file, want: []string{"does not trust", "check certificate-authority"}},
		{reason: "no server listens", kubeconfig: kubeconfigWith(closed, ""), variable: file, want: []string{"https://127.0.0.1:1 cannot be reached", "connection refused", "make cluster"}},
		{reason: "no proxy listens", kubeconfig: kubeconfigWith(server+", proxy-url: 'http://127.0.0.1:1'", ""), variable: file, want: []string{"the proxy", "proxy-url", "connection refused"}},
		{reason: "the server is silent", kubeconfig: kubeconfigWith(server, ""), variable: file, want: []string{"http://api.test does not answer", "make cluster"},
			handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })},
		{reason: "unknown credentials", kubeconfig: kubeconfigWith(server, ""), variable: file, handler: refuse(apierrors.NewUnauthorized("")), want: []string{"401", "credentials"}},
		// kubectl supports an auth-provider of this name, so it is no mistake: the request is sent.
		{reason: "unknown credentials of OpenID Connect", kubeconfig: kubeconfigWith("server: 'https://api.test'", "auth-provider: {name: oidc, config: {idp-issuer-url: 'https://issuer.test', client-id: c, id-token: "+idToken+"}}"), variable: file,
			handler: refuse(apierrors.NewUnauthorized("")), want: []string{"401", "credentials"}},
		{reason: "no permission", kubeconfig: kubeconfigWith(server, ""), variable: file, handler: refuse(apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("nobody"))), want: []string{"refuses", "lacks a permission", "config/rbac"}},
		{reason: "an old server", kubeconfig: kubeconfigWith(server, ""), variable: file, handler: paths(map[string]string{"/version": `{"gitVersion": "v1.26.9-gke.1"}`}),
			want: []string{"http://api.test is Kubernetes v1.26.9-gke.1", "1.27 or newer", "KUBE_FEATURE_WatchListClient=false"}},
		{reason: "no such group", kubeconfig: kubeconfigWith(server, ""), variable: file, handler: paths(map[string]string{"/version": versionOnly}),
			want: []string{"does not serve group.test/v1", "kubectl apply -f config/crd"}},
		{reason: "a CRD without the status subresource", kubeconfig: kubeconfigWith(server, ""), variable: file,
			handler: paths(map[string]string{"/version": versionOnly, "/apis/group.test/v1": `{"resources": [{"name": "things"}]}`}),
			want:    []string{"does not serve things/status of group.test/v1", "kubectl apply -f config/crd"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.variable)
			if err := os.WriteFile(file, []byte(test.kubeconfig), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { says(t, connectTo(t, test.options, test.handler), test.want...) })
		})
	}
}

// connectTo connects as a program does. It returns the first error.
func connectTo(t *testing.T, options connect.Options, handler http.Handler) error {
	config, _, err := connect.Config(options)
	if err != nil {
		return err
	}
	if handler != nil {
		config.Transport = testkit.Transport{Handler: handler}
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(t.Context(), client, config.Host); err != nil {
		return err
	}
	return connect.CheckGroup(t.Context(), client, config.Host, schema.GroupVersion{Group: "group.test", Version: "v1"}, "things", "things/status")
}
