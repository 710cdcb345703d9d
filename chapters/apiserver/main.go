package main

import (
	"context"
	"crypto/rand"
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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/serve"
)

// historyPeriod is how often the history of changes is dropped. kube-apiserver compacts as often.
const historyPeriod = 5 * time.Minute

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, *kubeconfig); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

func run(stop context.Context, kubeconfig string) (err error) {
	config, _, err := connect.Config(connect.Options{Kubeconfig: kubeconfig, QPS: -1}) // no client-side rate limit
	if err != nil {
		return err
	}
	client := kubernetes.NewForConfigOrDie(config)
	trusted, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(stop, "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the front proxy's identity: %w", err)
	}
	proxy, err := newFrontProxy(trusted.Data)
	if err != nil {
		return err
	}
	s := newServer()
	s.authenticate, s.authorize = proxy.authenticate, reviewer{client}.authorize
	certificate, err := serve.NewCertificate([]string{serviceHost}, serve.Lifetime)
	if err != nil {
		return err
	}
	var bound *net.TCPAddr
	server, err := serve.Listen("127.0.0.1:0", true, func(at *net.TCPAddr) http.Handler {
		bound = at
		return s
	})
	if err != nil {
		return err
	}
	secure := certificate.TLS()
	proxy.check(secure)
	server.Secure(secure)

	// Serve, then register; at the end in the opposite order.
	ctx, fail := context.WithCancelCause(stop)
	serveCtx, endServing := context.WithCancel(context.WithoutCancel(stop))
	var serving sync.WaitGroup
	serving.Go(func() { fail(server.Run(serveCtx)) })
	go wait.UntilWithContext(ctx, func(context.Context) { s.api.Compact() }, historyPeriod)
	defer serving.Wait()
	defer endServing()
	for _, object := range registration(dynamic.NewForConfigOrDie(config), bound.Port, certificate.Bundle(), rand.Text()) {
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
			defer cancel()
			err = errors.Join(err, object.Remove(ctx))
		}()
		if err := object.Install(ctx); err != nil {
			return err
		}
	}
	if err := waitAvailable(ctx, client.DiscoveryClient); err != nil {
		return err
	}
	fmt.Printf("ready: %s on %s (Ctrl-C stops)\n", version.Group, bound)
	<-ctx.Done()
	if stop.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}
