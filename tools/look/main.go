// Command look shows what any controller receives and sends, and why. It is a recording proxy between
// the program and its API server, and changes nothing.
//
//	make look CONTROLLER='../theirs/manager --flag'          # on the cluster of make cluster, or KUBECONFIG
//	bin/look --kubeconfig FILE -- ../theirs/manager --flag   # the same without make
//	bin/look --kubeconfig FILE --listen 127.0.0.1:8001       # for a program that runs elsewhere on this machine
//	bin/look --replay FILE                                   # a recording of --record, without a cluster
//
// The program gets the kubeconfig of the proxy in $KUBECONFIG. If it needs a flag, write {kubeconfig}
// in its command where the path belongs. The program's output goes to standard error, the log to
// standard output. At the end look prints its findings with advice; if there are any, the exit code is
// 3. Package tools/look/proxy documents the log and its limitations.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/run/subprocess"
	"example.com/byhand/kit/connect"
	"example.com/byhand/tools/look/proxy"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Most of the traffic becomes garbage at once. Spend memory, and leave the processor to the
	// program.
	debug.SetGCPercent(400)
	err := run(ctx, os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "look:", err)
	if errors.Is(err, errFindings) {
		os.Exit(3)
	}
	os.Exit(1)
}

var errFindings = errors.New("see the findings above; --allow NAME accepts one, --known REPORT accepts all findings of an earlier run")

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("look", flag.ExitOnError)
	o := connect.Options{QPS: -1}
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of the API server (default: $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&o.Context, "context", "", "`name` of a context of the kubeconfig (default: its current one)")
	address := flags.String("page", "127.0.0.1:0", "`host:port` of the page, on this machine only; \"\" for no page")
	record := flags.String("record", "", "`file` for every step, for --replay, and for bin/replay, which shows it on a page")
	replay := flags.String("replay", "", "print the log and the findings of a recording, a `file` of --record, and start nothing")
	report := flags.String("report", "", "`file` for the findings and the summary, as JSON, at the end")
	limit := flags.Duration("for", 0, "end after this time, such as 60s (default: with the program, or at Ctrl-C)")
	var options proxy.Options
	flags.StringVar(&options.Address, "listen", "127.0.0.1:0", "`host:port` to listen on, on this machine only; port 0: any free port")
	flags.StringVar(&options.Role, "role", "", "YAML `file` of the program's Role or ClusterRole: reports its permissions that were not used")
	flags.StringVar(&options.Known, "known", "", "`file` of an earlier --report: its findings are not reported again")
	flags.Func("allow", "`name` of a finding that is not reported; may be given several times", func(name string) error {
		options.Allowed = append(options.Allowed, name)
		return nil
	})
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: look [flags] [-- COMMAND…]\nIt shows what the controller receives and sends, and why. Without a command it prints the kubeconfig to give to a program.")
		flags.PrintDefaults()
	}
	_ = flags.Parse(args)
	if flags.NArg() > 0 {
		options.Program = filepath.Base(flags.Arg(0))
	}
	if *limit > 0 {
		limited, cancel := context.WithTimeout(ctx, *limit)
		defer cancel()
		ctx = limited
	}
	reported, err := create("--report", *report)
	if err != nil {
		return err
	}
	var p *proxy.Proxy
	if *replay != "" {
		p, err = replayed(*replay, options)
	} else {
		p, err = live(ctx, o, options, *record, *address, flags.Args())
	}
	if p != nil && reported != nil {
		err = cmp.Or(err, p.Report(reported))
	}
	if err == nil && len(p.Findings()) > 0 {
		return errFindings
	}
	return err
}

func replayed(file string, o proxy.Options) (*proxy.Proxy, error) {
	if o.Role != "" {
		return nil, errors.New("--role: a recording lacks some requests: use it without --replay")
	}
	recording, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w: give a file of --record", err)
	}
	defer recording.Close()
	p, err := proxy.Replay(recording, o, os.Stdout)
	if err != nil {
		return nil, fmt.Errorf("--replay %s: %w", file, err)
	}
	return p, nil
}

// live runs a Proxy, and behind it the command if there is one, and returns the closed Proxy.
func live(ctx context.Context, o connect.Options, options proxy.Options, record, address string, command []string) (*proxy.Proxy, error) {
	config, _, err := connect.Config(o)
	if err != nil {
		return nil, err
	}
	recorded, err := create("--record", record)
	if err != nil {
		return nil, err
	}
	p, err := proxy.New(ctx, config, options)
	if err != nil {
		return nil, err
	}
	p.Print(observer.Flag{}, os.Stdout)
	if recorded != nil {
		p.RecordTo(recorded)
	}
	err = show(ctx, p, address)
	switch {
	case err != nil:
	case len(command) > 0:
		err = program(ctx, p, command)
	default:
		fmt.Fprintf(os.Stderr, "look: start the program with KUBECONFIG=%s (Ctrl-C stops)\n", p.Kubeconfig)
		<-ctx.Done()
	}
	return p, cmp.Or(err, p.Close())
}

// create creates the file that a flag names, nil for "". Only its owner can read it: objects are in it.
func create(name, file string) (*os.File, error) {
	if file == "" {
		return nil, nil
	}
	made, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: give a file in a folder that exists", name, err)
	}
	return made, nil
}

// show serves the page until ctx is done, and nothing if address is empty.
func show(ctx context.Context, p *proxy.Proxy, address string) error {
	if address == "" {
		return nil
	}
	server, err := page.Listen(address, p.History, page.Options{Outside: true})
	if err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	go func() { _ = server.Run(ctx) }()
	fmt.Fprintln(os.Stderr, "look: in a browser:", server.URL)
	return nil
}

// unheard is how long a program may send nothing before look prints a hint. Tests shorten it.
var unheard = 15 * time.Second

// patience is how long a program may take to shut down.
const patience = 30 * time.Second

// program runs the command until ctx is done, and then shuts it down. It is an error if the command
// exits before.
func program(ctx context.Context, p *proxy.Proxy, args []string) error {
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{kubeconfig}", p.Kubeconfig)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.Kubeconfig)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	// A separate process group, so that a signal also reaches the child of `go run`.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	started, err := subprocess.Start(cmd)
	if err != nil {
		return fmt.Errorf("the program does not start: %w: a relative path starts in the current folder", err)
	}
	silent := time.AfterFunc(unheard, func() {
		if p.Requests() == 0 {
			fmt.Fprintln(cmd.Stderr, "look: the program has not sent a request yet. Does it read $KUBECONFIG? If it needs a flag, write {kubeconfig} instead of the path")
		}
	})
	defer silent.Stop()
	_ = started.Wait(ctx)
	if ctx.Err() == nil {
		return fmt.Errorf("the program ended, %s: a controller must keep running", started.Ended())
	}
	_ = started.Stop(patience)
	return nil
}
