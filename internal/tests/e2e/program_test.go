//go:build integration

package e2e

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfig writes a kubeconfig for a server and a user and returns its path.
func kubeconfig(t *testing.T, cluster clientcmdapi.Cluster, user clientcmdapi.AuthInfo) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["c"], config.AuthInfos["u"] = &cluster, &user
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Each mistake gets one line that says what to do next, and exit code 1.
func TestMistakes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	real := clientcmdapi.Cluster{Server: s.config.Host, InsecureSkipTLSVerify: true}
	home := "HOME=" + t.TempDir()
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("clusters: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A server that has been and gone, and one that accepts and stays silent.
	closed := listen(t)
	closed.Close()
	silent := listen(t)
	defer silent.Close()

	for _, test := range []struct {
		reason string
		env    []string
		args   []string
		want   []string
	}{
		{"no kubeconfig anywhere", []string{home, "KUBECONFIG="}, nil, []string{"no cluster is configured", "~/.kube/config", "--kubeconfig FILE", "make cluster"}},
		{"$KUBECONFIG names nothing", []string{home, "KUBECONFIG=/nowhere/config"}, nil, []string{"no cluster is configured", "/nowhere/config"}},
		{"the file is broken", nil, []string{"--kubeconfig", broken}, []string{"the kubeconfig is broken", broken}},
		{"an unknown context", nil, []string{"--context", "elsewhere"}, []string{`context "elsewhere" does not exist`, "get-contexts"}},
		{"no server listens", nil, []string{"--kubeconfig", kubeconfig(t, clientcmdapi.Cluster{Server: "http://" + closed.Addr().String()}, clientcmdapi.AuthInfo{})},
			[]string{closed.Addr().String(), "does not answer", "make cluster"}},
		{"the server is silent", nil, []string{"--kubeconfig", kubeconfig(t, clientcmdapi.Cluster{Server: "http://" + silent.Addr().String()}, clientcmdapi.AuthInfo{})},
			[]string{silent.Addr().String(), "does not answer"}},
		{"a token that the server does not know", nil, []string{"--kubeconfig", kubeconfig(t, real, clientcmdapi.AuthInfo{Token: "wrong"})},
			[]string{"401", "credentials"}},
		{"no credentials", nil, []string{"--kubeconfig", kubeconfig(t, real, clientcmdapi.AuthInfo{})}, []string{"refuses", "forbidden"}},
		{"a certificate that is not trusted", nil, []string{"--kubeconfig", kubeconfig(t, clientcmdapi.Cluster{Server: s.config.Host}, clientcmdapi.AuthInfo{})},
			[]string{"certificate-authority"}},
		{"no workers", nil, []string{"--workers", "0"}, []string{"--workers at least 1"}},
		{"a page that others could read", nil, []string{"--page", "0.0.0.0:0"}, []string{"--page:", "127.0.0.1:PORT", "--page-remote"}},
		{"a trace of something else", nil, []string{"--trace", "default/foo"}, []string{"no arguments", "behind its ="}},
		{"an argument that is no flag", nil, []string{"config/samples"}, []string{"no arguments"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			p := start(t, test.env, test.args...)
			if code := p.Exit(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			// The story may have begun.
			story, output, _ := strings.Cut(p.Output(), "byhand: ")
			output = strings.TrimSpace(output)
			if strings.Contains(output, "\n") || !regexp.MustCompile(`^(\d\d:\d\d:\d\d.*\n)*$`).MatchString(story) {
				t.Errorf("want one line that begins with byhand: at the end, got\n%s", p.Output())
			}
			for _, want := range test.want {
				if !strings.Contains(output, want) {
					t.Errorf("the line does not say %q:\n%s", want, output)
				}
			}
		})
	}
}

// What is asked for is no mistake; a flag that does not exist is one of another kind.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flag, want string
		code       int
	}{
		{"--version", "byhand ", 0},
		{"--help", "Exit code 0: it was told to end", 0},
		{"--no-such-flag", "flag provided but not defined: -no-such-flag", 2},
	} {
		p := start(t, nil, test.flag)
		if code := p.Exit(); code != test.code || !strings.Contains(p.Output(), test.want) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", test.flag, code, test.code, test.want, p.Output())
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// A signal lets a worker finish what it has begun; a second one does not wait.
func TestSignals(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	// A proxy before the API server holds each POST until the test lets it go. The first
	// one's sender has ended by then, and it goes nowhere.
	posted, release := make(chan struct{}, 1), make(chan struct{})
	var posts atomic.Int32
	proxy, through := s.proxied()
	proxy.Intercept(func(_ http.ResponseWriter, r *http.Request) (first bool) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/deployments") {
			first = posts.Add(1) == 1
			posted <- struct{}{}
			<-release
		}
		return first
	})
	s.createFoo("foo", spec("deployment", 1))

	// Twice: at once.
	impatient := s.controller("--kubeconfig", through)
	<-posted
	impatient.Signal(syscall.SIGINT)
	// Again and again: only the one that comes after the first was handled ends it.
	for impatient.Ended() == "" {
		_ = impatient.Process.Signal(syscall.SIGINT)
	}
	if code := impatient.Exit(); code != -1 {
		t.Errorf("exit code %d after two signals, want an end by signal", code)
	}

	// Once: the POST under way is finished, and so is its status.
	patient := s.controller("--kubeconfig", through)
	<-posted
	patient.Signal(syscall.SIGTERM)
	close(release)
	if code := patient.Exit(); code != 0 {
		t.Errorf("exit code %d after one signal, want 0", code)
	}
	for _, want := range []string{"sent     POST", "/foos/foo/status → 200", "stopped: every worker has finished"} {
		if !strings.Contains(patient.Output(), want) {
			t.Errorf("the program does not say %q", want)
		}
	}
}
