package connect_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/connect"
)

// The limit is that of all clients together: those of both clientsets take from one
// limiter.
func TestLimit(t *testing.T) {
	for _, qps := range []float64{5, -1} {
		config := &rest.Config{Host: "http://api.test"}
		connect.Limit(config, qps, 10)
		client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
		foos, deployments := client.SamplecontrollerV1alpha1().RESTClient().GetRateLimiter(), kube.AppsV1().RESTClient().GetRateLimiter()
		switch {
		case foos != deployments:
			t.Errorf("%v a second: Foos and Deployments have a limiter each", qps)
		case qps < 0 && foos != nil:
			t.Errorf("no limit: there is a limiter of %v a second", foos.QPS())
		case qps > 0 && foos.QPS() != float32(qps):
			t.Errorf("%v a second: the limiter allows %v", qps, foos.QPS())
		}
	}
}

// A second terminal reaches the same cluster, and has its kubectl.
func TestShell(t *testing.T) {
	folder := t.TempDir()
	own := filepath.Join(folder, "own")
	if err := os.MkdirAll(filepath.Join(folder, "bin"), 0o755); err != nil {
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

// load returns the configuration for a kubeconfig that names this server.
func load(t *testing.T, server string) *rest.Config {
	t.Helper()
	loaded, err := tryLoad(t, clientcmdapi.Cluster{Server: server, InsecureSkipTLSVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func tryLoad(t *testing.T, cluster clientcmdapi.Cluster) (*rest.Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &cluster
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c"}
	config.CurrentContext = "x"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := connect.Config(connect.Options{Kubeconfig: file, QPS: -1})
	return loaded, err
}

// A password in the server's address is used, and not shown.
func TestPasswordInHost(t *testing.T) {
	for server, want := range map[string]string{"https://user:hunter2@api.test:6443": "https://api.test:6443", "user:hunter2@api.test:6443": "api.test:6443"} {
		loaded := load(t, server)
		if loaded.Host != want || loaded.Username != "user" || loaded.Password != "hunter2" {
			t.Errorf("host %q, user %q, password %q, want host %q", loaded.Host, loaded.Username, loaded.Password, want)
		}
	}
}

// Of an address that cannot be read nothing is shown, neither by an error nor as the host.
func TestUnreadableAddress(t *testing.T) {
	for _, address := range []string{
		"https://marked:mar/ked@api.test", "https://marked:mar%zzked@api.test", "marked:mar/ked@api.test",
		"https://marked:12/marked@api.test", "https://marked:12?marked@api.test", "https://marked:12#marked@api.test",
		"https:/marked:marked@api.test", "marked:mar://ked@api.test", "https://https://marked:marked@api.test",
		"https://marked:mar ked@api.test:port",
	} {
		for what, cluster := range map[string]clientcmdapi.Cluster{"server": {Server: address}, "proxy": {Server: "https://api.test", ProxyURL: address}} {
			config, err := tryLoad(t, cluster)
			if err == nil {
				if what == "server" && (strings.Contains(config.Host, "mar") || strings.Contains(config.Host, "ked")) {
					t.Errorf("server %q: it is shown as %q", address, config.Host)
				}
				_, err = kubernetes.NewForConfig(config)
				err = connect.ExplainConfig(err)
			}
			if what == "server" && err == nil {
				t.Errorf("server %q: no error", address)
			}
			if err != nil && (strings.Contains(err.Error(), "mar") || strings.Contains(err.Error(), "ked") || !strings.Contains(err.Error(), "do not belong there")) {
				t.Errorf("%s %q: %v", what, address, err)
			}
		}
	}
	// As an error of a client that was made without Config.
	_, err := kubernetes.NewForConfig(&rest.Config{Host: "https://marked:mar/ked@api.test"})
	if err = connect.ExplainConfig(err); err == nil || strings.Contains(err.Error(), "mar") || strings.Contains(err.Error(), "ked") {
		t.Errorf("a client's error: %v", err)
	}
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
