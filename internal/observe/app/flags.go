package app

import (
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/leader"
)

// Options are the values of the flags.
type Options struct {
	Connect   connect.Options
	Namespace string // "" is all
	Workers   int
	Resync    time.Duration // 0 is never
	Election  *leader.Options

	listen, page      string
	pprof, pageRemote bool
	trace             observer.Flag
	verbosity         int
}

// ParseFlags reads and checks the arguments of the program. If one cannot be parsed, it prints the usage and ends
// the process.
func ParseFlags(args []string) (o Options, err error) {
	flags := flag.NewFlagSet("byhand", flag.ExitOnError)
	flags.StringVar(&o.Connect.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's service account)")
	flags.StringVar(&o.Connect.Context, "context", "", "`name` of a context of the kubeconfig (default: its current one)")
	flags.StringVar(&o.Namespace, "namespace", "", "`name` of the only namespace to watch (default: all)")
	flags.IntVar(&o.Workers, "workers", 16, "number of Foos to reconcile at the same time")
	flags.Float64Var(&o.Connect.QPS, "kube-api-qps", -1, "requests per second to the API server, without Events and the Lease; negative: no limit but the server's")
	flags.IntVar(&o.Connect.Burst, "kube-api-burst", 100, "requests that may exceed --kube-api-qps for a moment")
	flags.DurationVar(&o.Resync, "resync", 10*time.Minute, "how often to reconcile each object without an event, such as 90s or 1h; 0: never")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "`host:port` of /healthz, /readyz and /metrics, such as :8081; port 0: any free one; no host: every interface")
	flags.BoolVar(&o.pprof, "pprof", false, "also serve /debug/pprof/, to every program that can reach --listen")
	flags.BoolFunc("trace", "print each step instead of the log: of all Foos, of one (--trace=default/example-foo), or as lines of JSON (--trace=json)", o.trace.Set)
	flags.StringVar(&o.page, "page", "", "`host:port` of a page that shows each step, such as 127.0.0.1:8080; port 0: any free one")
	flags.BoolVar(&o.pageRemote, "page-remote", false, "let --page listen on an address that other machines can reach")
	o.Election = leader.Flags(flags)
	flags.IntVar(&o.verbosity, "v", 0, "how much to log to stderr: 2 shows retries, 6 each request, 8 bodies")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: byhand [flags]\nIt runs until Ctrl-C. Exit code 0: it was told to end, or asked for --help. 1: an error; stderr says what to do. 2: a flag that does not exist or cannot be read.")
		flags.PrintDefaults()
	}
	_ = flags.Parse(args)

	for want, ok := range map[string]bool{
		"give flags only, and the value of --trace after its =": flags.NArg() == 0,
		"--workers must be at least 1":                          o.Workers > 0,
		"--kube-api-qps must not be 0: negative is no limit":    o.Connect.QPS != 0,
		"--kube-api-burst must be at least 1":                   o.Connect.QPS < 0 || o.Connect.Burst > 0,
		"--resync must not be negative: 0 is never":             o.Resync >= 0,
	} {
		if !ok {
			err = fmt.Errorf("usage: %s (see --help)", want)
		}
	}
	return o, err
}

// StartLog sends the logs of client-go, which uses klog, and of net/http to stderr, without control characters: an
// error may quote the answer of a webhook.
func StartLog(o Options) {
	_ = new(klog.Level).Set(fmt.Sprint(o.verbosity))
	log := observer.HarmlessWriter(os.Stderr)
	klog.SetLoggerWithOptions(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(log), textlogger.Verbosity(o.verbosity))), klog.ContextualLogger(true))
	klog.CopyStandardLogTo("WARNING")
}
