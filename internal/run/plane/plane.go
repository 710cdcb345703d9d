// Package plane starts control planes with the CRDs of this repository in them, for the judge and
// for the harness of the comparison, by the command in tools/cluster.
package plane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// Bare: who is measured or judged alone writes Deployments.
	Bare = "etcd,kube-apiserver"
	// Whole: Deployments get Pods, and garbage is collected.
	Whole = "etcd,kube-apiserver,kube-controller-manager,kube-scheduler,kwok-controller"
)

// Root is the root of the repository that this source file was compiled from. Not every
// program that starts control planes is run there.
func Root() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, "tools", "cluster", "go.mod")); err != nil {
		return "", fmt.Errorf("the folder tools/cluster is not where it was when this program was built: %w", err)
	}
	return root, nil
}

// Plane is one control plane.
type Plane struct {
	// Home is the folder to which the cluster command writes.
	Home, Name, Kubeconfig string
	// Config has no client-side rate limit.
	Config *rest.Config
	Kube   kubernetes.Interface

	command, components string
}

// Command is the cluster command, built.
type Command string

// Build builds it in a folder. It needs the Go toolchain.
func Build(ctx context.Context, dir string) (Command, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "cluster")
	_, err = Go(ctx, "build", "-C", filepath.Join(root, "tools", "cluster"), "-o", program, ".")
	return Command(program), err
}

var started atomic.Int64

// Up starts a control plane for clients of this name. The caller calls Down, unless there is
// an error.
func (c Command) Up(ctx context.Context, components, userAgent string) (*Plane, error) {
	root, err := Root()
	if err := errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	p := &Plane{Home: filepath.Join(root, "bin"), command: string(c), components: components}
	// By this name the cluster command knows whose it is, and removes what a process that was
	// killed has left.
	p.Name = fmt.Sprintf("test-%d-%d", os.Getpid(), started.Add(1))
	p.Kubeconfig = filepath.Join(p.Home, p.Name+".kubeconfig")
	if err = p.Start(); err == nil {
		err = p.connect(userAgent)
	}
	if err == nil {
		err = p.Install()
	}
	if err != nil {
		return nil, errors.Join(err, p.Down())
	}
	return p, nil
}

// Start starts what of it does not run.
func (p *Plane) Start() error {
	_, err := execute(p.command, "up", "--name", p.Name, "--components", p.components)
	return err
}

func (p *Plane) connect(userAgent string) (err error) {
	if p.Config, err = clientcmd.BuildConfigFromFlags("", p.Kubeconfig); err != nil {
		return err
	}
	p.Config.QPS, p.Config.UserAgent = -1, userAgent
	p.Kube, err = kubernetes.NewForConfig(p.Config)
	return err
}

// Install applies this repository's CRDs and more, and waits until the API server serves them and has
// created the namespace default.
func (p *Plane) Install(more ...string) error {
	kubectl := func(args ...string) (output string, err error) {
		return execute(filepath.Join(p.Home, "kubectl"), append(args, "--kubeconfig", p.Kubeconfig)...)
	}
	if _, err := kubectl("wait", "--for=create", "--timeout=60s", "namespace/default"); err != nil {
		return err
	}
	var resources []string
	for _, crds := range append([]string{filepath.Join(p.Home, "..", "config", "crd")}, more...) {
		// In the annotation of a client-side apply a large CRD has no room.
		applied, err := kubectl("apply", "--server-side", "--force-conflicts", "-o", "name", "-f", crds)
		if err != nil {
			return err
		}
		for line := range strings.Lines(applied) {
			if resource, is := strings.CutPrefix(strings.TrimSpace(line), "customresourcedefinition.apiextensions.k8s.io/"); is {
				resources = append(resources, resource)
			}
		}
	}
	return served(p.Kube.Discovery(), resources)
}

// served waits until the discovery has these resources, such as foos.samplecontroller.k8s.io: a CRD's
// resource appears after its condition Established is true.
func served(kube discovery.ServerResourcesInterface, resources []string) error {
	var missing []string
	err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		missing = slices.Clone(resources)
		_, lists, _ := kube.ServerGroupsAndResources() // It returns the available groups even if others are missing.
		for _, list := range lists {
			version, _ := schema.ParseGroupVersion(list.GroupVersion)
			for _, r := range list.APIResources {
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == r.Name+"."+version.Group })
			}
		}
		return len(missing) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("the API server does not serve %s: %w", strings.Join(missing, ", "), err)
	}
	return nil
}

// Down stops it and removes its data.
func (p *Plane) Down() error {
	_, err := execute(p.command, "down", "--name", p.Name)
	return err
}

// execute runs a command that neither a context nor Ctrl-C interrupts: a control plane is started and removed
// completely.
func execute(program string, args ...string) (output string, err error) {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	text, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, bytes.TrimSpace(text))
	}
	return string(text), nil
}

// Go runs the Go toolchain and returns its output, without the newline.
func Go(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimSuffix(string(output), "\n"), nil
}
