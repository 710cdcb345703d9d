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
	stored, err := openStorage(o.store)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	defer func() { err = errors.Join(err, stored.close()) }()
	objects := len(stored.objects)
	s, err := newServer(stored, o.stage)
	if err != nil {
		return err
	}
	s.authenticate, s.authorize = proxy.authenticate, reviewer{client}.authorize
	s.namespace = func(ctx context.Context, name string) (*corev1.Namespace, error) {
		return client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	}
	certificate, err := webhook.NewCertificate([]string{serviceHost}, webhook.Lifetime)
	if err != nil {
		return err
	}
	server, address, err := listenOn(o.address, s.routes(), certificate.TLS())
	if err != nil {
		return err
	}

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
		fmt.Printf("ready: %s on %s, %d objects in %s (Ctrl-C stops)\n", group, address, objects, o.store)
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
func newServer(stored *storage, stage int) (*server, error) {
	documents, err := newOpenAPI()
	if err != nil {
		return nil, err
	}
	managers, err := newManagers(documents)
	if err != nil {
		return nil, err
	}
	return &server{
		storage: stored, stage: stage, openAPI: documents, managers: managers,
		log: func(format string, args ...any) {
			fmt.Printf("%s  %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
		},
		requests: make(chan struct{}, maxRequests), watchers: make(chan struct{}, maxWatchers), patience: patience,
	}, nil
}

// listenOn returns an HTTPS server, which does not serve yet, and its address. It asks for a
// certificate. A client without one is refused later, in words.
func listenOn(address string, handler http.Handler, config *tls.Config) (server *serve.Server, bound *net.TCPAddr, err error) {
	server, err = serve.Listen(address, true, func(at *net.TCPAddr) http.Handler {
		bound = at
		return handler
	})
	if err != nil {
		return nil, nil, fmt.Errorf("--address: %w", err)
	}
	config.ClientAuth = tls.RequestClientCert
	server.Secure(config)
	return server, bound, nil
}

type options struct {
	connect        connect.Options
	store, address string
	stage          int
}

// parseFlags reads and checks the flags.
func parseFlags(args []string) (o options, err error) {
	o.connect.QPS = -1 // no limit but the server's own
	flags := flag.NewFlagSet("apiserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.connect.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flags.StringVar(&o.store, "store", "", "the `directory` of the journal, which one process at a time may have")
	flags.StringVar(&o.address, "address", "127.0.0.1:0", "what to listen on, where the API server can reach it")
	flags.IntVar(&o.stage, "stage", 3, "how much of it to serve: 1 reads, 2 also writes and watches, 3 also patches")
	err = flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w (--help lists the flags)", err)
	case flags.NArg() > 0 || o.store == "" || o.stage < 1 || o.stage > 3:
		return o, errors.New("usage: --store DIR, where the journal is to be, --stage 1, 2 or 3, no arguments (see --help)")
	}
	return o, nil
}
