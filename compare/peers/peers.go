package peers

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Workers is how many Foos a tuned peer reconciles at the same time: as many as byhand does
// by default.
const Workers = 16

// Peer is one form of the controller, as a program.
type Peer struct {
	// Name is what tables and files call it: letters, digits and '-'.
	Name string
	// Loop: it ends by itself when every Foo has been written, and watches nothing.
	Loop bool

	// binary is the file that Build makes of package pkg; peers may share one.
	binary, pkg string
	// edits are made in its source.
	edits []edit
	// args are its flags beyond the kubeconfig.
	args []string
}

// All returns the peers in the order in which they are shown.
func All() []Peer {
	workers := []string{"--workers", strconv.Itoa(Workers)}
	byhand := Peer{Name: "byhand", binary: "byhand", pkg: "example.com/byhand"}
	generated := Peer{Name: "sample-controller", binary: "sample-controller", pkg: sample}
	generatedTuned := generated.with("-tuned", tuning)
	framework := Peer{Name: "controller-runtime", binary: "framework", pkg: "example.com/byhand/compare/framework",
		args: []string{"--health-probe-bind-address", "127.0.0.1:0"}}
	frameworkTuned, floor := framework, Peer{Name: "floor", Loop: true, binary: "floor", pkg: "example.com/byhand/compare/floor", args: workers}
	frameworkTuned.Name, frameworkTuned.args = "controller-runtime-tuned", slices.Concat(framework.args, workers, []string{"--strip", "--read-your-writes", "--zap-devel=false"})
	frameworkSilent, floorWatch := frameworkTuned, floor
	frameworkSilent.Name, frameworkSilent.args = frameworkTuned.Name+Silent, slices.Concat(frameworkTuned.args, []string{"--events=false"})
	floorWatch.Name, floorWatch.args = "floor-watch", append(workers, "--watch")
	return []Peer{
		byhand, byhand.with(Silent, silence), generated, generatedTuned, generatedTuned.with(Silent, silenceSample),
		framework, frameworkTuned, frameworkSilent, floor, floorWatch,
	}
}

// Silent ends the name of a peer that sends no Events.
const Silent = "-silent"

// with returns the same peer with another end of its name and more edits.
func (p Peer) with(suffix string, edits []edit) Peer {
	p.Name, p.binary, p.edits = p.Name+suffix, p.binary+suffix, slices.Concat(p.edits, edits)
	return p
}

// Build compiles the programs of these peers into the folder dir, which must exist.
// It needs the Go toolchain, and a working directory inside the module compare.
func Build(ctx context.Context, dir string, peers ...Peer) error {
	built := map[string]bool{}
	for _, peer := range peers {
		if built[peer.binary] {
			continue
		}
		if err := peer.compile(ctx, filepath.Join(dir, peer.binary)); err != nil {
			return fmt.Errorf("build %s: %w", peer.Name, err)
		}
		built[peer.binary] = true
	}
	return nil
}

// Command is the process that reconciles the Foos of the cluster that kubeconfig
// names, yet to be started: the program that Build has made in dir. It listens on the
// loopback interface only, if at all. When ctx is done it gets SIGTERM, and after half a
// minute SIGKILL.
func (p Peer) Command(ctx context.Context, dir, kubeconfig string) *exec.Cmd {
	args := append([]string{"--kubeconfig", kubeconfig}, p.args...)
	cmd := exec.CommandContext(ctx, filepath.Join(dir, p.binary), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}
