//go:build integration

package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"

	"example.com/byhand/compare/peers"
	"example.com/byhand/internal/testkit/subprocess"
)

const deadline = time.Minute

// peer is one of the two programs, running.
type peer struct {
	*subprocess.Program
	name             string
	mutate, validate string // URLs
	client           *http.Client
}

// start builds and starts both on the cluster that $KUBECONFIG names. They listen on
// 127.0.0.1 and end with the test.
func start(t *testing.T) []*peer {
	t.Helper()
	for _, command := range []string{
		"kubectl apply -f ../../chapters/admission/config/crd",
		"kubectl wait --for=condition=Established --timeout=30s -f ../../chapters/admission/config/crd",
		"kubectl apply -f ../../chapters/admission/config/samples",
	} {
		if output, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
	}
	dir := t.TempDir()
	for name, pkg := range map[string]string{"byhand": "example.com/byhand/chapters/admission", "controller-runtime": "."} {
		if _, err := peers.Go(t.Context(), "build", "-o", filepath.Join(dir, name), pkg); err != nil {
			t.Fatal(err)
		}
	}
	started := []*peer{startByhand(t, dir), startFramework(t, dir)}
	body, _ := review(t, nil, []string{"tomato"})
	for _, p := range started {
		eventually(t, p.name+" answers", func() error {
			_, err := p.post(t.Context(), p.validate, body)
			return err
		})
	}
	return started
}

// startByhand starts the chapter's program. The API server asks it about no namespace of
// anybody's.
func startByhand(t *testing.T, dir string) *peer {
	t.Helper()
	p := run(t, dir, "byhand", "--namespace", "nobody")
	const ready = `ready: the API server asks (\S+)`
	p.Prints(1, ready)
	url := regexp.MustCompile(ready).FindStringSubmatch(p.Output())[1]
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	registered, err := kubernetes.NewForConfigOrDie(config).AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "byhand-admission", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.trust(t, registered.Webhooks[0].ClientConfig.CABundle)
	p.mutate, p.validate = url+"/mutate", url+"/validate"
	return p
}

// startFramework starts this package's program, with certificates as cert-manager would
// bring them.
func startFramework(t *testing.T, dir string) *peer {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// It takes no port 0.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	p := run(t, dir, "controller-runtime", "--port", port, "--certificates", dir)
	p.trust(t, certificate)
	p.mutate = "https://" + address + "/mutate-restaurant-programming-kubernetes-info-v1alpha1-pizza"
	p.validate = "https://" + address + "/validate-restaurant-programming-kubernetes-info-v1alpha1-pizza"
	return p
}

// run starts a program.
func run(t *testing.T, dir, name string, args ...string) *peer {
	t.Helper()
	p := subprocess.Run(t, exec.Command(filepath.Join(dir, name), append(args, "--kubeconfig", os.Getenv("KUBECONFIG"))...), deadline)
	// With SIGTERM, so that it takes its registration away.
	t.Cleanup(p.Stop)
	return &peer{Program: p, name: name}
}

// trust makes the client, which speaks HTTP/1.1, as the API server does.
func (p *peer) trust(t *testing.T, bundle []byte) {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		t.Fatalf("%s: no certificate in %q", p.name, bundle)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	p.client = &http.Client{Transport: transport, Timeout: 10 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
}

// eventually waits until condition returns nil.
func eventually(t *testing.T, what string, condition func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}
