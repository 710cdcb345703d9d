package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/informer"
	"example.com/byhand/internal/connect"
)

const (
	syncTimeout = time.Minute
	// removeTimeout is how long it may take to remove the registration at the end.
	removeTimeout = 10 * time.Second
	// forget is how long an API server may go on asking when the registration is gone. It
	// watches it, and nobody is told when it has heard.
	forget = time.Second
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
		fmt.Fprintln(os.Stderr, "admission:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	out := log.New(os.Stdout, "", log.Ltime|log.Lmicroseconds)

	// Clients: ours for Toppings, client-go's for the registration.
	config, _, err := connect.Config(o.connect)
	if err != nil {
		return err
	}
	client, err := NewToppings(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, kube.Discovery(), config.Host, v1alpha1.SchemeGroupVersion); err != nil {
		return err
	}

	// What decides, and the server before it.
	toppings := newInformer(client)
	reviewer := &reviewer{has: has(client, toppings.Store), said: out.Printf}
	authority, err := webhook.NewAuthority(o.hosts(), webhook.Options{CA: o.valid})
	if err != nil {
		return err
	}
	server, err := webhook.Listen(o.listen, o.inside(), authority, reviewer.handler())
	if err != nil {
		return err
	}
	registration := &registration{client: kube.AdmissionregistrationV1(), service: o.service, namespace: o.namespace}
	if !o.inside() {
		registration.url = server.URL
	}

	// Run: first what answers, and only then the registration. At the end the other way
	// round, so what answers does not end with ctx.
	ctx, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	answering, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { toppings.Run(answering) })
	running.Go(func() { failed(server.Run(answering)) })
	if err := informer.WaitForSync(ctx, syncTimeout, toppings); err != nil {
		return err
	}
	err = authority.Run(ctx, func(ctx context.Context, bundle []byte) error {
		err := registration.install(ctx, bundle)
		if err == nil {
			out.Printf("ready: the API server asks %s and trusts %d CA (Ctrl-C stops)", registration, bytes.Count(bundle, []byte("BEGIN")))
		}
		return err
	})
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause // the server cannot go on
	}

	// ctx is done, and this must be done nevertheless.
	removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if removeErr := registration.remove(removing); removeErr != nil && err == nil {
		err = fmt.Errorf("the webhooks are still registered, and nobody answers any more: %w", removeErr)
	}
	time.Sleep(forget)
	out.Print("stopped")
	return err
}

type options struct {
	connect           connect.Options
	listen, namespace string
	service           types.NamespacedName
	valid             time.Duration
}

// inside says whether the program runs in a Pod, behind a Service.
func (o options) inside() bool { return o.service.Name != "" }

// hosts are the names that the API server looks for in the certificate.
func (o options) hosts() []string {
	if o.inside() {
		return []string{o.service.Name + "." + o.service.Namespace + ".svc"}
	}
	host, _, _ := net.SplitHostPort(o.listen)
	return []string{host}
}

// parseFlags reads and checks the flags.
func parseFlags(args []string) (o options, err error) {
	o.connect.QPS = -1 // no limit but the server's own
	var service string
	flags := flag.NewFlagSet("admission", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.connect.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to listen on, as IP:PORT; port 0 is any free one")
	flags.StringVar(&service, "service", "", "`NAMESPACE/NAME` of the Service before it, in a Pod (default: the API server asks the address of --listen)")
	flags.StringVar(&o.namespace, "namespace", metav1.NamespaceAll, "the only namespace to be asked about (default: all)")
	flags.DurationVar(&o.valid, "valid", 30*24*time.Hour, "how long the certificate of the CA is valid, at least 30s")
	err = flags.Parse(args)
	var ok bool
	o.service.Namespace, o.service.Name, ok = strings.Cut(service, "/")
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w (--help lists the flags)", err)
	case flags.NArg() > 0 || o.valid < 30*time.Second || service != "" && (!ok || o.service.Namespace == "" || o.service.Name == ""):
		return o, errors.New("usage: no arguments, --service as NAMESPACE/NAME, --valid at least 30s (see --help)")
	}
	return o, nil
}
