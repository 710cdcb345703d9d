// Command chain records how a Deployment becomes a running Pod, for the page:
//
//	make chain    # go run ./internal/page/chain FILE, on a cluster that is started for it
//
// $KUBECONFIG names an API server that has a node, kwok, and no controllers. Three are started here,
// each a process of its own behind a glass of its own (package look), so that of each can be said what
// it heard and sent, and because of what. A person creates a Deployment, with kubectl. When its Pod
// runs, what each glass has seen of Deployments, ReplicaSets and Pods is written into one recording,
// in the order of time, with the program's name before each text. README.md says what can be seen there.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/byhand/internal/look"
	"example.com/byhand/internal/trace"
	"example.com/byhand/kit/connect"
)

// kinds are those of the chain: the scheduler alone watches fifteen more.
var kinds = []string{"Deployment", "ReplicaSet", "Pod"}

// program is one of the controllers. It is ready when it watches these kinds.
type program struct {
	name    string
	command []string
	watches []string
}

var programs = []program{
	{"Deployment controller", []string{"kube-controller-manager", "--controllers=deployment-controller"}, kinds},
	{"ReplicaSet controller", []string{"kube-controller-manager", "--controllers=replicaset-controller"}, []string{"ReplicaSet", "Pod"}},
	{"scheduler", []string{"kube-scheduler"}, []string{"Pod"}},
}

// person is what somebody does with kubectl. The first two other controllers would have done: no Pod
// is admitted without a ServiceAccount, and none is scheduled to a node that is new.
var person = [][]string{
	{"create", "serviceaccount", "default"},
	{"taint", "node", "--all", "node.kubernetes.io/not-ready-"},
	{"create", "deployment", "web", "--image=nginx"},
	{"rollout", "status", "deployment/web", "--timeout=60s"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.New("usage: chain FILE")
	if len(os.Args) == 2 {
		err = run(ctx, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chain:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string) error {
	ctx, end := context.WithCancel(ctx)
	glasses, running, err := start(ctx)
	if err == nil {
		err = act(ctx)
	}
	var seen [][]*trace.Step
	for _, glass := range glasses {
		err = errors.Join(err, glass.Close())
		seen = append(seen, glass.Kept(0))
	}
	end()
	running.Wait()
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(merged(seen)), 0o644)
}

// start starts the programs, which run until ctx is done, and returns their glasses when all of them
// watch.
func start(ctx context.Context) (glasses []*look.Glass, running *sync.WaitGroup, err error) {
	running = &sync.WaitGroup{}
	config, _, err := connect.Config(connect.Options{QPS: -1})
	if err != nil {
		return nil, running, err
	}
	for _, p := range programs {
		glass, err := look.New(ctx, config, look.Options{Address: "127.0.0.1:0"})
		if err != nil {
			return glasses, running, err
		}
		glasses = append(glasses, glass)
		args := append(p.command[1:], "--kubeconfig="+glass.Kubeconfig, "--leader-elect=false", "--secure-port=0")
		cmd := exec.CommandContext(ctx, p.command[0], args...)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return glasses, running, err
		}
		running.Go(func() { _ = cmd.Wait() }) // It is killed.
	}
	return glasses, running, wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		for i, glass := range glasses {
			if !watches(glass.Kept(0), programs[i].watches) {
				return false, nil
			}
		}
		return true, nil
	})
}

func watches(steps []*trace.Step, kinds []string) bool {
	return !slices.ContainsFunc(kinds, func(kind string) bool {
		return !slices.ContainsFunc(steps, func(s *trace.Step) bool { return s.What == trace.Opened && s.Kind == kind })
	})
}

func act(ctx context.Context) error {
	for _, args := range person {
		if said, err := exec.CommandContext(ctx, "kubectl", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl %v: %w: %s", args, err, said)
		}
	}
	return nil
}

// merged makes one recording of what each program's glass has seen of the chain.
func merged(seen [][]*trace.Step) (recording string) {
	type numbered struct {
		*trace.Step
		program int
	}
	var steps []numbered
	for i, all := range seen {
		for _, step := range all {
			// A watch that ends does so at our end.
			if slices.Contains(kinds, step.Kind) && step.What != trace.Ended {
				steps = append(steps, numbered{step, i})
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b numbered) int { return a.Time.Compare(b.Time) })
	// What caused a step has another number now, too.
	type number struct {
		program int
		seq     int64
	}
	now := map[number]int64{}
	for i, s := range steps {
		now[number{s.program, s.Seq}] = int64(i + 1)
		s.Seq, s.CauseSeq = int64(i+1), now[number{s.program, s.CauseSeq}]
		s.Text = strings.TrimSuffix(programs[s.program].name+": "+s.Text, ": ")
		recording += s.Line()
	}
	return recording
}
