//go:build integration

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"

	"example.com/byhand/compare/peers"
)

const deadline = time.Minute

// peer is one of the two programs, running.
type peer struct {
	name             string
	mutate, validate string // URLs
	client           *http.Client
	process          int

	// What a benchmark measures.
	times     []time.Duration
	took      time.Duration
	cpuBefore float64 // in seconds
}

// start builds and starts both on the cluster that $KUBECONFIG names. They listen on
// 127.0.0.1 and end with the test.
func start(tb testing.TB) []*peer {
	tb.Helper()
	for _, command := range []string{
		"kubectl apply -f ../../chapters/admission/config/crd",
		"kubectl wait --for=condition=Established --timeout=30s -f ../../chapters/admission/config/crd",
		"kubectl apply -f ../../chapters/admission/config/samples",
	} {
		if output, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			tb.Fatalf("%s: %v\n%s", command, err, output)
		}
	}
	dir := tb.TempDir()
	for name, pkg := range map[string]string{"byhand": "example.com/byhand/chapters/admission", "controller-runtime": "."} {
		if _, err := peers.Go(tb.Context(), "build", "-o", filepath.Join(dir, name), pkg); err != nil {
			tb.Fatal(err)
		}
	}
	started := []*peer{startByhand(tb, dir), startFramework(tb, dir)}
	body, _ := review(tb, nil, []string{"tomato"})
	for _, p := range started {
		eventually(tb, p.name+" answers", func() error {
			_, err := p.post(tb.Context(), p.validate, body)
			return err
		})
	}
	return started
}

// startByhand starts the chapter's program. The API server asks it about no namespace of
// anybody's.
func startByhand(tb testing.TB, dir string) *peer {
	tb.Helper()
	p, output := run(tb, dir, "byhand", "--namespace", "nobody")
	var url string
	eventually(tb, "the program is ready", func() error {
		text, err := os.ReadFile(output)
		match := regexp.MustCompile(`ready: the API server asks (\S+)`).FindSubmatch(text)
		if match == nil {
			return fmt.Errorf("it says %q (%v)", text, err)
		}
		url = string(match[1])
		return nil
	})
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		tb.Fatal(err)
	}
	registered, err := kubernetes.NewForConfigOrDie(config).AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(tb.Context(), "byhand-admission", metav1.GetOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	p.trust(tb, registered.Webhooks[0].ClientConfig.CABundle)
	p.mutate, p.validate = url+"/mutate", url+"/validate"
	return p
}

// startFramework starts this package's program, with certificates as cert-manager would
// bring them.
func startFramework(tb testing.TB, dir string) *peer {
	tb.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for name, text := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	// It takes no port 0.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		tb.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	p, _ := run(tb, dir, "controller-runtime", "--port", port, "--certificates", dir)
	p.trust(tb, certificate)
	p.mutate = "https://" + address + "/mutate-restaurant-programming-kubernetes-info-v1alpha1-pizza"
	p.validate = "https://" + address + "/validate-restaurant-programming-kubernetes-info-v1alpha1-pizza"
	return p
}

// run starts a program, with its output in a file.
func run(tb testing.TB, dir, name string, args ...string) (p *peer, output string) {
	tb.Helper()
	output = filepath.Join(dir, name+".log")
	file, err := os.Create(output)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, name), append(args, "--kubeconfig", os.Getenv("KUBECONFIG"))...)
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		err := cmd.Wait()
		_ = file.Close()
		if text, _ := os.ReadFile(output); err != nil || tb.Failed() {
			tb.Logf("%s: %v\n%.5000s", name, err, text)
		}
	})
	return &peer{name: name, process: cmd.Process.Pid}, output
}

// trust makes the client, which speaks HTTP/1.1, as the API server does.
func (p *peer) trust(tb testing.TB, bundle []byte) {
	tb.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		tb.Fatalf("%s: no certificate in %q", p.name, bundle)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 100}
	p.client = &http.Client{Transport: transport, Timeout: 10 * time.Second}
	tb.Cleanup(transport.CloseIdleConnections)
}

func (p *peer) stat(tb testing.TB) procfs.ProcStat {
	tb.Helper()
	process, err := procfs.NewProc(p.process)
	if err != nil {
		tb.Fatal(err)
	}
	stat, err := process.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	return stat
}

// eventually waits until condition returns nil.
func eventually(tb testing.TB, what string, condition func() error) {
	tb.Helper()
	var err error
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	tb.Fatalf("%s: %v", what, err)
}
