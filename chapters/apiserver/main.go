package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
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
	"k8s.io/client-go/rest"

	"example.com/byhand/chapters/apiserver/storage"
	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/internal/connect"
	"example.com/byhand/internal/serve"
)

func main() {
	o, err := parseFlags(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		// After the first signal a second one ends the process at once.
		context.AfterFunc(ctx, stop)
		err = run(ctx, o)
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

func run(stop context.Context, o options) (err error) {
	config, client, err := connected(stop, o.connect)
	if err != nil {
		return err
	}
	proxy := &frontProxy{}
	if err := proxy.read(stop, client); err != nil {
		return err
	}
	stored, err := storage.Open(o.store, decodeStored)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	s := newServer(stored)
	s.authenticate, s.authorize = proxy.authenticate, reviewer{client}.authorize
	s.namespace = func(ctx context.Context, name string) (*corev1.Namespace, error) {
		return client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	}
	certificate, err := webhook.NewCertificate([]string{serviceHost}, webhook.Lifetime)
	if err != nil {
		return err
	}
	var address *net.TCPAddr
	server, err := serve.Listen(o.address, true, func(bound *net.TCPAddr) http.Handler {
		address = bound
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
	var serving, running sync.WaitGroup
	serving.Go(func() { fail(server.Run(serveCtx)) })
	defer serving.Wait()
	defer endServing()
	registration := &registration{client: dynamic.NewForConfigOrDie(config), discovery: client.DiscoveryClient,
		port: address.Port, bundle: certificate.Bundle(), process: rand.Text()}
	defer func() { err = errors.Join(err, registration.remove()) }()
	running.Go(func() { fail(webhook.Keep(ctx, registration.install)) })
	running.Go(func() { proxy.keepReading(ctx, client) })
	defer running.Wait()
	defer fail(nil)
	if err := registration.waitAvailable(ctx); err != nil {
		fail(err)
	} else {
		fmt.Printf("ready: %s on %s, objects in %s (Ctrl-C stops)\n", group, address, o.store)
	}
	<-ctx.Done()
	if stop.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

// connected returns clients of the API server, which answers.
func connected(ctx context.Context, o connect.Options) (*rest.Config, *kubernetes.Clientset, error) {
	config, _, err := connect.Config(o)
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, connect.ExplainConfig(err)
	}
	_, err = connect.Check(ctx, client.Discovery(), config.Host)
	return config, client, err
}

// newServer returns a server that does not yet know whom to ask.
func newServer(stored *storage.Storage) *server {
	return &server{
		storage: stored,
		log: func(format string, args ...any) {
			fmt.Printf("%s  %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
		},
		requests: newRoom(maxRequests), watches: newRoom(maxWatches), patience: patience,
	}
}

type options struct {
	connect        connect.Options
	store, address string
}

// parseFlags reads and checks the flags.
func parseFlags(args []string) (o options, err error) {
	o.connect.QPS = -1 // no limit but the server's own
	flags := flag.NewFlagSet("apiserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.connect.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flags.StringVar(&o.store, "store", "", "the `directory` of the journal, which one process at a time may have")
	flags.StringVar(&o.address, "address", "127.0.0.1:0", "what to listen on, where the API server can reach it")
	err = flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w (--help lists the flags)", err)
	case flags.NArg() > 0 || o.store == "":
		return o, errors.New("usage: --store DIR, where the journal is to be, and no arguments (see --help)")
	}
	return o, nil
}
