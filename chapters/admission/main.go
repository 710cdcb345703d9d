package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
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
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/informer"
	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/serve"
)

const (
	syncTimeout = time.Minute
	// removeTimeout limits the removal of the registration at the end.
	removeTimeout = 10 * time.Second
	// forget is how long an API server may still call after the registration is deleted. An API
	// server watches the registration, and does not report when it has seen a change.
	forget = time.Second
)

func main() {
	var o options
	o.define(flag.CommandLine)
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "admission: usage: no arguments (see --help)")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "admission:", err)
		os.Exit(1)
	}
}

// run wires the program: clients → cache of Toppings → reviewer → server, with a certificate.
func run(ctx context.Context, o options) error {
	p := &program{out: log.New(os.Stdout, "", log.Ltime|log.Lmicroseconds)}

	// Clients: ours for Toppings, client-go's for the API server's resources and the registration.
	config, _, err := connect.Config(connect.Options{Kubeconfig: o.kubeconfig, QPS: -1}) // no client-side rate limit
	if err != nil {
		return err
	}
	client, err := newClient(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	requests, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, requests, config.Host, v1alpha1.SchemeGroupVersion); err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}

	p.client, p.toppings = client, newInformer(client)
	reviewer := &reviewer{has: has(client, p.toppings.Store), said: p.out.Printf}
	certificate, err := serve.NewCertificate(o.hosts(), serve.Lifetime)
	if err != nil {
		return err
	}
	p.server, err = webhook.Listen(o.listen, o.inside(), certificate, reviewer.handler())
	if errors.Is(err, serve.ErrRemote) {
		return fmt.Errorf("%w: give 127.0.0.1:PORT, or --service if this is a Pod", err)
	}
	if err != nil {
		return err
	}
	p.at = place{service: o.service, namespace: o.namespace, bundle: certificate.Bundle()}
	if !o.inside() {
		p.at.url = p.server.URL
	}
	if p.registration, err = newRegistration(objects, p.at); err != nil {
		return err
	}
	return p.run(ctx)
}

type program struct {
	out          *log.Logger
	client       rest.Interface
	toppings     *informer.Informer
	server       *serve.Server
	at           place
	registration registration
}

// run serves until ctx is done. The server starts before the registration is installed and
// stops after it is removed, so the API server never calls a closed port.
func (p *program) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answering, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var failure error
	var running sync.WaitGroup
	running.Go(func() { p.toppings.Run(answering) })
	running.Go(func() {
		failure = p.server.Run(answering)
		cancel()
	})

	err := informer.WaitForSync(ctx, syncTimeout, p.toppings)
	if err == nil {
		err = p.register(ctx)
	}
	stop()
	running.Wait()
	p.out.Print("stopped")
	return cmp.Or(failure, err)
}

func (p *program) register(ctx context.Context) error {
	err := p.registration.install(ctx)
	if err == nil {
		time.Sleep(forget) // An API server does not report when it has seen the registration.
		err = webhook.Reached(ctx, p.order())
	}
	if err == nil {
		p.out.Printf("ready: the API server calls %s (Ctrl-C stops)", p.at)
		<-ctx.Done()
	}

	// ctx is done, but the removal must still run.
	removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	removeErr := p.registration.remove(removing)
	time.Sleep(forget)
	if removeErr != nil && (err == nil || ctx.Err() != nil) {
		return fmt.Errorf("the webhooks are still registered, and no process answers (`make chapter-down CHAPTER=admission` removes them): %w", removeErr)
	}
	return err
}

// order returns the request that creates a Pizza: the API server must call the webhook for it.
func (p *program) order() *rest.Request {
	pizza := &v1alpha1.Pizza{ObjectMeta: metav1.ObjectMeta{GenerateName: "byhand-"}}
	return p.client.Post().Namespace(cmp.Or(p.at.namespace, metav1.NamespaceDefault)).Resource("pizzas").Body(pizza)
}

type options struct {
	kubeconfig, listen, namespace string

	service types.NamespacedName
}

// inside reports whether the program runs in a Pod, behind a Service.
func (o options) inside() bool { return o.service.Name != "" }

func (o options) hosts() []string {
	if o.inside() {
		return []string{o.service.Name + "." + o.service.Namespace + ".svc"}
	}
	host, _, _ := net.SplitHostPort(o.listen)
	return []string{host}
}

func (o *options) define(flags *flag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to listen on, as IP:PORT; port 0 is any free one")
	flags.StringVar(&o.namespace, "namespace", metav1.NamespaceAll, "the only namespace whose pizzas are reviewed (default: all)")
	flags.Func("service", "`NAMESPACE/NAME` of its Service, in a Pod (default: the API server calls the address of --listen)", func(value string) error {
		o.service.Namespace, o.service.Name, _ = strings.Cut(value, "/")
		if o.service.Namespace == "" || o.service.Name == "" {
			return errors.New("want NAMESPACE/NAME")
		}
		return nil
	})
}
