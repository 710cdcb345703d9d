// Command webhook is the webhook of chapters/admission as a user of kubebuilder writes it:
// the same defaults and refusals, on controller-runtime.
//
// This file is the wiring that kubebuilder scaffolds, pizza.go is what its user fills in.
// It has no registration: kubebuilder has that written as YAML, and cert-manager adds the
// certificates. webhook_test.go holds it against the rules of the chapter.
package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() { utilruntime.Must(v1alpha1.AddToScheme(scheme)) }

func main() {
	// controller-runtime itself registers --kubeconfig.
	port := flag.Int("port", 9443, "the `port` on 127.0.0.1")
	certificates := flag.String("certificates", "", "`folder` of tls.crt and tls.key")
	logging := zap.Options{}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		WebhookServer:          webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates}),
	})
	if err != nil {
		setupLog.Error(err, "unable to create the manager")
		os.Exit(1)
	}
	if err := setupWebhook(mgr); err != nil {
		setupLog.Error(err, "unable to create the webhook", "webhook", "Pizza")
		os.Exit(1)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "the manager ended")
		os.Exit(1)
	}
}
