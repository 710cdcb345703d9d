package connect_test

import (
	"errors"
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

// Shell prints what a second terminal needs to reach the same cluster with its kubectl.
func TestShell(t *testing.T) {
	folder := t.TempDir()
	own := filepath.Join(folder, "own")
	if err := os.Mkdir(filepath.Join(folder, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bin", "kubectl"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, variable, want string }{
		{"", "", ""},
		{"", "/home/me/config", "export KUBECONFIG=\"/home/me/config\"\n"},
		{own, "/home/me/config", "export KUBECONFIG=\"" + own + "\"\nexport PATH=\"" + folder + "/bin:$PATH\"\n"},
	} {
		t.Setenv("KUBECONFIG", c.variable)
		if got := connect.Shell(c.flag); got != c.want {
			t.Errorf("--kubeconfig %q, $KUBECONFIG %q: got\n%s\nwant\n%s", c.flag, c.variable, got, c.want)
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

// load returns the configuration for a server.
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

// A write that the server puts off is sent once, and its answer comes back at once.
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

// What another host answers is not the API server's, and client-go would show it the credentials.
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
	// It would become a GET, which succeeds.
	if wrote := deployments.Delete(t.Context(), "d", metav1.DeleteOptions{}); read == nil || wrote == nil {
		t.Errorf("GET: %v, DELETE: %v, want errors", read, wrote)
	}
}

// A server that asks for an hour's patience is asked again after half a minute: an informer would
// be blind for that hour.
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

// Each mistake in a kubeconfig gets one line that says what to do next.
func TestConfigMistakes(t *testing.T) {
	home := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(t.TempDir(), "config")
	defer func() { clientcmd.RecommendedHomeFile = home }()
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("clusters: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason, variable string
		options          connect.Options
		want             []string
	}{
		{"no kubeconfig anywhere", "", connect.Options{}, []string{"no cluster is configured", "~/.kube/config", "--kubeconfig FILE", "make cluster"}},
		{"$KUBECONFIG names nothing", "/nowhere/config", connect.Options{}, []string{"no cluster is configured", "/nowhere/config"}},
		{"the file is broken", "", connect.Options{Kubeconfig: broken}, []string{"the kubeconfig is broken", broken}},
		{"an unknown context", kubeconfig(t, clientcmdapi.Cluster{Server: "http://api.test"}), connect.Options{Context: "elsewhere"}, []string{`context "elsewhere" does not exist`, "get-contexts"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.variable)
			_, _, err := connect.Config(test.options)
			says(t, err, test.want...)
		})
	}
}

// So does each mistake that the server, or its absence, shows.
func TestCheckMistakes(t *testing.T) {
	// No other test gets a port below 1024.
	const closed = "http://127.0.0.1:1"
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	answering := func(answer http.HandlerFunc) *rest.Config {
		return &rest.Config{Host: "http://api.test", Transport: testkit.Transport{Handler: answer}}
	}
	silent := answering(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	unauthorized := answering(func(w http.ResponseWriter, _ *http.Request) { testkit.WriteError(w, apierrors.NewUnauthorized("")) })
	// Its version an API server tells everybody.
	forbidden := answering(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			_, _ = io.WriteString(w, "{}")
			return
		}
		testkit.WriteError(w, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("nobody")))
	})
	old := answering(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"gitVersion": "v1.26.9-gke.1"}`)
	})
	for _, test := range []struct {
		reason string
		config *rest.Config
		want   []string
	}{
		{"no server listens", &rest.Config{Host: closed}, []string{closed, "does not answer", "make cluster"}},
		{"the server is silent", silent, []string{"http://api.test", "does not answer"}},
		{"credentials that it does not know", unauthorized, []string{"401", "credentials"}},
		{"no right", forbidden, []string{"refuses", "forbidden"}},
		{"a server that is too old", old, []string{"http://api.test is Kubernetes v1.26.9-gke.1", "1.27 or newer", "KUBE_FEATURE_WatchListClient=false"}},
		{"a certificate that is not trusted", &rest.Config{Host: secure.URL}, []string{"certificate-authority"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := discovery.NewDiscoveryClientForConfigOrDie(test.config)
				_, err := connect.Check(t.Context(), client, test.config.Host, schema.GroupVersion{Group: "group.test", Version: "v1"})
				says(t, err, test.want...)
			})
		})
	}
}
