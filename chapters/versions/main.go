package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/discovery"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/serve"
)

// farewell limits the shutdown: the change of the CRD, and the wait until the API server
// has seen it.
const farewell = 20 * time.Second

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "versions: usage: no arguments (see --help)")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, *kubeconfig, os.Stdout); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "versions:", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string, stdout io.Writer) error {
	config, _, err := connect.Config(connect.Options{Kubeconfig: kubeconfig, QPS: -1}) // no client-side rate limit
	if err != nil {
		return err
	}
	// The discovery client accepts any path, and this program needs no more.
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, client, config.Host); err != nil {
		return err
	}
	return converts(ctx, &api{client.RESTClient()}, log.New(stdout, "", log.Ltime|log.Lmicroseconds))
}

// converts serves reviews until ctx is done, and then removes its webhook from the cluster.
func converts(ctx context.Context, requests *api, logger *log.Logger) error {
	certificate, err := serve.NewCertificate([]string{"127.0.0.1"}, serve.Lifetime)
	if err != nil {
		return err
	}
	server, err := webhook.Listen("127.0.0.1:0", false, certificate, webhook.Review((&converter{logger}).review))
	if err != nil {
		return err
	}

	// At exit the CRD drops the webhook, then the server stops. In the other order
	// requests would fail in between.
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
	err = requests.install(ctx, url, certificate.Bundle())
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		if err == nil {
			err = webhook.Reached(ctx, requests.order(version))
		}
	}
	if err == nil {
		logger.Printf("ready: process %d converts at %s, v1alpha1 and v1beta1 are served (Ctrl-C stops)", os.Getpid(), url)
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		err = nil // the exit was requested, or server.Run returns the reason
	}
	// Even after an error: a failed request may have taken effect.
	err = errors.Join(err, takeAway(context.WithoutCancel(ctx), url, requests, logger))
	stop()
	return errors.Join(err, <-ended)
}

// takeAway removes the webhook and returns when the API server no longer calls it.
func takeAway(ctx context.Context, url string, requests *api, logger *log.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	did, err := requests.leave(ctx, url)
	if err != nil {
		return fmt.Errorf("the webhook may still be installed, without a process: %w: `make chapter-down CHAPTER=versions` removes it", err)
	}
	if did != "" {
		logger.Print(did)
	}
	return nil
}
