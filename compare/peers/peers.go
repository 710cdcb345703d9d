package peers

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Workers is how many Foos a peer reconciles at the same time, unless it is compared
// as shipped or Options say otherwise.
const Workers = 16

// Peer is one form of the controller, as a program.
type Peer struct {
	// Name is what tables and files call it: letters, digits and '-'.
	Name string
	// Loop: it ends by itself when every Foo has been written, and watches nothing.
	Loop bool
	// Shipped: it runs with its own defaults, the number of workers included. A tuned peer
	// is to get a kubeconfig that disables compression.
	Shipped bool
	// Elects: it can take part in a leader election.
	Elects bool

	// binary is the file that Build makes; peers may share one.
	binary string
	build  build
	// more are the files that its program has in addition.
	more map[string]string
	// args are its flags beyond the kubeconfig.
	args func(o Options) []string
}

// Options say how a peer is to run. The zero value is how it is compared.
type Options struct {
	// Workers is how many Foos are reconciled at the same time; 0 means Workers. The
	// peers as shipped and sample-controller-tuned, whose number is compiled in, ignore
	// it.
	Workers int
	// Resync is how often every object is looked at again without an event; 0 means
	// the peer's own default. sample-controller has 30 s compiled in and ignores it.
	Resync time.Duration
	// LeaderElect makes the process wait for the Lease of this namespace and name. Only
	// for peers that Elect.
	LeaderElect               bool
	LeaseNamespace, LeaseName string
}

func (o Options) workers() string {
	if o.Workers == 0 {
		return strconv.Itoa(Workers)
	}
	return strconv.Itoa(o.Workers)
}

// All returns the peers in the order in which they are shown.
func All() []Peer {
	byhand := Peer{Name: "byhand", Shipped: true, Elects: true, binary: "byhand", build: compile("example.com/byhand"), args: byhandArgs}
	byhandTuned := byhand
	byhandTuned.Name, byhandTuned.Shipped, byhandTuned.args = "byhand-tuned", false, func(o Options) []string {
		return append(byhandArgs(o), "--workers", o.workers())
	}
	sample := Peer{Name: "sample-controller", Shipped: true, binary: "sample-controller", build: compileSample, args: noArgs}
	sampleTuned := Peer{Name: "sample-controller-tuned", binary: "sample-controller-tuned", build: compileTuned, args: noArgs}
	framework := Peer{Name: "controller-runtime", Shipped: true, Elects: true, binary: "framework",
		build: compile("example.com/byhand/compare/framework"), args: frameworkArgs}
	frameworkTuned := framework
	frameworkTuned.Name, frameworkTuned.Shipped, frameworkTuned.args = "controller-runtime-tuned", false, frameworkTunedArgs
	floor := Peer{Name: "floor", Loop: true, binary: "floor", build: compile("example.com/byhand/compare/floor"), args: floorArgs}
	floorWatch, floorEvents := floor, floor
	floorWatch.Name, floorWatch.args = "floor-watch", func(o Options) []string { return append(floorArgs(o), "--watch") }
	floorEvents.Name, floorEvents.args = "floor-events", func(o Options) []string { return append(floorArgs(o), "--events") }
	return []Peer{byhand, byhandTuned, sample, sampleTuned, framework, frameworkTuned, floor, floorWatch, floorEvents}
}

// Build compiles the programs of these peers into the folder dir, which must exist.
// It needs the Go toolchain, and a working directory inside the module compare.
func Build(ctx context.Context, dir string, peers ...Peer) error {
	built := map[string]bool{}
	for _, peer := range peers {
		if built[peer.binary] {
			continue
		}
		if err := peer.build(ctx, peer.Binary(dir), peer.more); err != nil {
			return fmt.Errorf("build %s: %w", peer.Name, err)
		}
		built[peer.binary] = true
	}
	return nil
}

// Binary is the program's file after Build into dir.
func (p Peer) Binary(dir string) string { return filepath.Join(dir, p.binary) }

// Command is the process that reconciles the Foos of the cluster that kubeconfig
// names, yet to be started. It listens on the loopback interface only, if at all.
// When ctx is done it gets SIGTERM, and after half a minute SIGKILL.
func (p Peer) Command(ctx context.Context, dir, kubeconfig string, opts Options) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Binary(dir), append([]string{"--kubeconfig", kubeconfig}, p.args(opts)...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

func noArgs(Options) []string { return nil }

func floorArgs(o Options) []string { return []string{"--workers", o.workers()} }

func byhandArgs(o Options) []string {
	var args []string
	if o.Resync > 0 {
		args = append(args, "--resync", o.Resync.String())
	}
	if o.LeaderElect {
		args = append(args, "--leader-elect", "--leader-elect-resource-namespace", o.LeaseNamespace, "--leader-elect-resource-name", o.LeaseName)
	}
	return args
}

func frameworkArgs(o Options) []string {
	args := []string{"--health-probe-bind-address", "127.0.0.1:0"}
	if o.Resync > 0 {
		args = append(args, "--resync", o.Resync.String())
	}
	if o.LeaderElect {
		args = append(args, "--leader-elect", "--leader-elect-namespace", o.LeaseNamespace, "--leader-elect-id", o.LeaseName)
	}
	return args
}

func frameworkTunedArgs(o Options) []string {
	args := append(frameworkArgs(o), "--workers", o.workers(), "--strip", "--read-your-writes", "--zap-devel=false")
	if o.LeaderElect {
		args = append(args, "--leader-elect-release-on-cancel", "--warmup")
	}
	return args
}

// liveHeap is a file that a program may have in addition.
var liveHeap = map[string]string{"liveheap.go": "package main\n\nimport _ \"example.com/byhand/compare/peers/liveheap\"\n"}

// WithLiveHeap returns the peer with a program that also says, when it is asked, how
// much of its heap is alive: see package liveheap.
func (p Peer) WithLiveHeap() Peer {
	p.binary, p.more = p.binary+"-liveheap", liveHeap
	return p
}

// build compiles a program into file, with more files than its package has: their
// names and what is in them.
type build func(ctx context.Context, file string, more map[string]string) error

// compile returns the build of a package by the module's own go.mod.
func compile(pkg string) build {
	return func(ctx context.Context, file string, more map[string]string) error {
		if len(more) == 0 {
			_, err := goCommand(ctx, "build", "-o", file, pkg)
			return err
		}
		dir, err := directory(ctx, pkg)
		if err != nil {
			return err
		}
		return compileOverlay(ctx, file, pkg, dir, more)
	}
}

// goCommand runs the Go toolchain and returns its output, without the newline.
func goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimSuffix(string(output), "\n"), nil
}
