package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"example.com/byhand/chapters/apiserver/storage"
	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/internal/connect"
	"example.com/byhand/internal/serve"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	address := flag.String("address", "127.0.0.1:0", "what to listen on, where the API server can reach it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, *kubeconfig, *address); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

func run(stop context.Context, kubeconfig, address string) (err error) {
	config, _, err := connect.Config(connect.Options{Kubeconfig: kubeconfig, QPS: -1}) // no limit but the server's own
	if err != nil {
		return err
	}
	client := kubernetes.NewForConfigOrDie(config)
	proxy := &frontProxy{}
	if err := proxy.read(stop, client); err != nil {
		return err
	}
	s := newServer()
	s.authenticate, s.authorize = proxy.authenticate, reviewer{client}.authorize
	s.namespace = func(ctx context.Context, name string) (*corev1.Namespace, error) {
		return client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	}
	certificate, err := webhook.NewCertificate([]string{serviceHost}, webhook.Lifetime)
	if err != nil {
		return err
	}
	var bound *net.TCPAddr
	server, err := serve.Listen(address, true, func(at *net.TCPAddr) http.Handler {
		bound = at
		return s.routes()
	})
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}
	// A client without a certificate is refused later, in words.
	secure := certificate.TLS()
	secure.ClientAuth = tls.RequestClientCert
	server.Secure(secure)

	// Serve, then register. Each defer ends what was begun before it, so at the end it is
	// the other way round.
	ctx, fail := context.WithCancelCause(stop)
	serveCtx, endServing := context.WithCancel(context.WithoutCancel(stop))
	var serving, registering sync.WaitGroup
	serving.Go(func() { fail(server.Run(serveCtx)) })
	defer serving.Wait()
	defer endServing()
	registration := &registration{client: dynamic.NewForConfigOrDie(config), discovery: client.DiscoveryClient,
		port: bound.Port, bundle: certificate.Bundle(), process: rand.Text()}
	defer func() { err = errors.Join(err, registration.remove()) }()
	registering.Go(func() { fail(webhook.Keep(ctx, registration.install)) })
	defer registering.Wait()
	defer fail(nil)
	if err := registration.waitAvailable(ctx); err != nil {
		fail(err)
	} else {
		fmt.Printf("ready: %s on %s (Ctrl-C stops)\n", group, bound)
	}
	<-ctx.Done()
	if stop.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

// newServer returns a server that does not yet know whom to ask.
func newServer() *server {
	return &server{
		storage: storage.New(decodeStored),
		log: func(format string, args ...any) {
			fmt.Printf("%s  %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
		},
		requests: newRoom(maxRequests), watches: newRoom(maxWatches), patience: patience,
	}
}
