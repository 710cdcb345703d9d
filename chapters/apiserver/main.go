package main

import (
	"context"
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

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/internal/connect"
)

const (
	// trustPeriod is how often the front proxy's CA is read again.
	trustPeriod = time.Minute
	// endTimeout is for taking the APIServices away, and for the last answers.
	endTimeout = 10 * time.Second
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

func run(ctx context.Context, o options) (err error) {
	client, err := connected(ctx, o.connect)
	if err != nil {
		return err
	}
	proxy := &frontProxy{}
	if err := proxy.read(ctx, client); err != nil {
		return err
	}
	stored, err := openStorage(o.store)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	defer func() { err = errors.Join(err, stored.close()) }()
	handler, err := newServer(stored, client)
	if err != nil {
		return err
	}
	handler.authenticate = proxy.authenticate
	authority, err := webhook.NewAuthority([]string{serviceHost}, webhook.Options{})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}

	// Serve, then register. The other way round at the end.
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	failures := make(chan error, 2)
	running.Go(func() { wait.UntilWithContext(ctx, logged(proxy.read, client), trustPeriod) })
	defer serve(listener, handler, proxy.tls(authority.TLS()), failures)()
	registration := &registration{client: client.CoreV1().RESTClient(), port: listener.Addr().(*net.TCPAddr).Port}
	defer func() {
		cancel() // Nothing is installed any more.
		err = errors.Join(err, removed(registration))
	}()
	if err := registration.install(ctx, authority.Bundle()); err != nil {
		return err
	}
	running.Go(func() {
		if err := authority.Run(ctx, registration.install); err != nil && ctx.Err() == nil {
			failures <- err
		}
	})
	if err := registration.waitAvailable(ctx); err != nil {
		return err
	}
	fmt.Printf("ready: %s on %s, %d objects in %s (Ctrl-C stops)\n", group, listener.Addr(), stored.len(), o.store)
	select {
	case <-ctx.Done():
		return nil
	case err := <-failures:
		return err
	}
}

// connected returns a client of the API server, which answers.
func connected(ctx context.Context, o connect.Options) (kubernetes.Interface, error) {
	config, _, err := connect.Config(o)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, connect.ExplainConfig(err)
	}
	_, err = connect.Check(ctx, client.Discovery(), config.Host)
	return client, err
}

// newServer returns a server that asks the API server what it must know of others.
func newServer(stored *storage, client kubernetes.Interface) (*server, error) {
	// A JSON Patch that copies and copies would make gigabytes of a few bytes.
	jsonpatch.AccumulatedCopySizeLimit = 10 * maxBody
	documents, err := newOpenAPI()
	if err != nil {
		return nil, err
	}
	managers, err := newManagers(documents)
	if err != nil {
		return nil, err
	}
	return &server{
		storage:   stored,
		authorize: reviewer{client}.authorize,
		namespace: func(ctx context.Context, name string) (*corev1.Namespace, error) {
			return client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		},
		openAPI:  documents,
		managers: managers,
		log: func(format string, args ...any) {
			fmt.Printf("%s  %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
		},
		requests: make(limit, maxRequests),
		watchers: make(limit, maxWatchers),
		ending:   make(chan struct{}),
	}, nil
}

// serve answers until stop is called. What has begun then is answered, and watches end.
func serve(listener net.Listener, handler *server, config *tls.Config, failures chan<- error) (stop func()) {
	httpServer := &http.Server{
		Handler:           handler,
		TLSConfig:         config,
		ReadHeaderTimeout: patience,
		IdleTimeout:       2 * time.Minute,
	}
	httpServer.RegisterOnShutdown(func() { close(handler.ending) })
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := httpServer.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			failures <- err
		}
	})
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		_ = errors.Join(httpServer.Shutdown(ctx), httpServer.Close())
		serving.Wait()
	}
}

// removed takes the APIServices away, also when the program's context is done.
func removed(registration *registration) error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	return registration.remove(ctx)
}

// logged makes a function of one that may fail and is called again.
func logged(do func(context.Context, kubernetes.Interface) error, client kubernetes.Interface) func(context.Context) {
	return func(ctx context.Context) {
		if err := do(ctx, client); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Trying again", "after", trustPeriod)
		}
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
		return o, errors.New("usage: --store DIR, where the journal is to be, no arguments (see --help)")
	}
	return o, nil
}
