// Command framework is the Foo controller as a kubebuilder user writes it: the same API, the
// same Deployment and the same conditions as byhand, on controller-runtime.
//
// main.go is kubebuilder's scaffold, foo_controller.go is the user's code. Without flags it
// runs with controller-runtime's defaults; each flag below is an option of controller-runtime.
// The scaffold's webhook server, metrics server and leader election are omitted: a comparison
// of controllers does not need them.
package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"

	// Cloud authentication, which kubebuilder links into each program.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
}

func main() {
	var (
		probeAddr             string
		strip, readYourWrites bool
		record                bool
		workers               int
		logging               = zap.Options{Development: true}
	)
	// controller-runtime itself registers --kubeconfig.
	flag.StringVar(&probeAddr, "health-probe-bind-address", "127.0.0.1:8081", "`host:port` of /healthz and /readyz; 0: none")
	flag.IntVar(&workers, "workers", 1, "MaxConcurrentReconciles")
	flag.BoolVar(&strip, "strip", false, "keep no managedFields in the cache")
	flag.BoolVar(&readYourWrites, "read-your-writes", false, "EnableReadYourWritesConsistency: a read waits until the cache shows the process's own writes")
	flag.BoolVar(&record, "events", true, "send Events")
	logging.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	options := ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: probeAddr,
		Controller:             config.Controller{MaxConcurrentReconciles: workers},
		Client:                 client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}},
	}
	if strip {
		options.Cache.DefaultTransform = cache.TransformStripManagedFields()
	}
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
	if err != nil {
		setupLog.Error(err, "unable to create the manager")
		os.Exit(1)
	}

	recorder := mgr.GetEventRecorder("foo-controller")
	if !record {
		recorder = &events.FakeRecorder{}
	}
	ctx := ctrl.SetupSignalHandler()
	if err := (&FooReconciler{
		Client:   mgr.GetClient(),
		Scheme:   mgr.GetScheme(),
		Recorder: recorder,
	}).SetupWithManager(ctx, mgr); err != nil {
		setupLog.Error(err, "unable to create the controller", "controller", "Foo")
		os.Exit(1)
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		setupLog.Error(err, "unable to set up the health check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		setupLog.Error(err, "unable to set up the ready check")
		os.Exit(1)
	}

	setupLog.Info("starting the manager")
	if err := mgr.Start(ctx); err != nil {
		setupLog.Error(err, "the manager ended")
		os.Exit(1)
	}
}
