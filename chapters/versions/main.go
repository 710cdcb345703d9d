package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/serve"
)

// farewell is how long the end may take: to change the definition, and until the API server
// has seen that.
const farewell = 20 * time.Second

// drain is a little more than the API server gives a write: 34 seconds (requestTimeoutUpperBound
// in k8s.io/apiserver).
const drain = 35 * time.Second

func main() {
	o := options{}
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "where the API server reaches the webhook: `HOST:PORT` on this machine, port 0 is any free one")
	flag.StringVar(&o.etcd, "etcd", "", "for stored: the `URL` of etcd (default: that of the cluster that make has started)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, o, flag.Args(), os.Stdout); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "versions:", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

const usage = "usage: versions [FLAGS] [migrate | stored NAMESPACE/NAME]"

type options struct{ kubeconfig, listen, etcd string }

func run(ctx context.Context, o options, args []string, stdout io.Writer) error {
	command := strings.Join(args, " ")
	switch {
	case len(args) == 2 && args[0] == "stored":
		return printStored(ctx, o, args[1], stdout)
	case command != "" && command != "migrate":
		return errors.New(usage + " (see --help)")
	}
	config, _, err := connect.Config(connect.Options{Kubeconfig: o.kubeconfig, QPS: -1}) // no limit but the server's own
	if err != nil {
		return err
	}
	// migrate reads its own warnings.
	config.WarningHandler = rest.NoWarnings{}
	// The client for discovery takes any path, and this program needs no more.
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, client, config.Host); err != nil {
		return err
	}
	story, requests := log.New(stdout, "", log.Ltime|log.Lmicroseconds), &api{client.RESTClient(), drain}
	if command == "migrate" {
		return requests.migrate(ctx, story)
	}
	if lacks := requests.lacks(ctx); lacks != "" {
		story.Print(lacks)
	}
	return converts(ctx, o.listen, requests, story)
}

// converts answers reviews until ctx is done. What it installs in the cluster it takes away.
func converts(ctx context.Context, address string, requests *api, story *log.Logger) error {
	certificate, server, err := listenFor(address, &converter{story})
	if err != nil {
		return err
	}

	// First ctx ends, then the definition lets go, then the server ends. The other way
	// round, requests would fail in between.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answering, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- server.Run(answering)
		cancel()
	}()

	url := server.URL + "/convert"
	err = webhook.Keep(ctx, func(ctx context.Context, first bool) error {
		err := requests.install(ctx, url, certificate.Bundle(), first)
		for _, version := range []string{"v1alpha1", "v1beta1"} {
			if first && err == nil {
				err = webhook.Reached(ctx, requests.order(version))
			}
		}
		if first && err == nil {
			story.Printf("ready: process %d converts at %s, v1alpha1 and v1beta1 are served (Ctrl-C stops)", os.Getpid(), url)
		}
		return err
	})
	if ctx.Err() != nil {
		err = nil // The end was asked for, or the server says why.
	}
	// After an error as well: a request that has failed may have arrived.
	err = errors.Join(err, takeAway(context.WithoutCancel(ctx), url, requests, story))
	stop()
	return errors.Join(err, <-ended)
}

// listenFor takes the address of the webhook, without serving it, and makes a certificate
// for it.
func listenFor(address string, c *converter) (*serve.Certificate, *serve.Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, fmt.Errorf("--listen %q: want HOST:PORT: %w", address, err)
	}
	certificate, err := serve.NewCertificate([]string{host}, serve.Lifetime)
	if err != nil {
		return nil, nil, err
	}
	handler := http.NewServeMux()
	handler.Handle("/convert", webhook.Review(limits, c.review))
	server, err := webhook.Listen(address, false, certificate, handler)
	return certificate, server, err
}

// takeAway returns when the API server does not ask any more.
func takeAway(ctx context.Context, url string, requests *api, story *log.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	did, err := requests.leave(ctx, url)
	if err != nil {
		return fmt.Errorf("the webhook may still be installed, and no process answers it: %w: `make chapter-down CHAPTER=versions` takes it away", err)
	}
	if did != "" {
		story.Print(did)
	}
	return nil
}

// printStored prints what etcd has.
func printStored(ctx context.Context, o options, key string, stdout io.Writer) (err error) {
	if o.etcd == "" {
		if o.etcd, err = etcdOf(cmp.Or(o.kubeconfig, os.Getenv("KUBECONFIG"))); err != nil {
			return err
		}
	}
	pizza, err := stored(ctx, o.etcd, key)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s %s\n", pizza.APIVersion, pizza.Spec)
	return err
}
