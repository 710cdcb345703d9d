package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/compare/peers"
)

// world is one control plane, with the front that the program talks to.
type world struct {
	judge *judge
	// bare: there is an API server and nothing else. The judge plays the controller of
	// Deployments, so that a rollout takes no time.
	bare bool

	home, cluster    string // the folder of the module cluster, its built command
	name, kubeconfig string
	config           *rest.Config
	kube             kubernetes.Interface
	dynamic          dynamic.Interface
	front            *front
	through          string // the kubeconfig of the program

	stages int

	// What the run without faults has shown.
	bound    time.Duration // how long the program may take
	writes   int           // what it writes for the story
	baseline string        // the end of the story
	hopeless string        // why nothing else can be judged
}

// components of the two control planes.
const (
	wholePlane = "etcd,kube-apiserver,kube-controller-manager,kube-scheduler,kwok-controller"
	barePlane  = "etcd,kube-apiserver"
)

// usualBound is judge.bound for a program of which nothing is known: a Lease expires and a
// pause after errors ends in it.
const usualBound = time.Minute

// planes is how many control planes were started.
var planes atomic.Int64

// moduleRoot is the root of the repository that this source file was compiled from. The
// judge is run in the folder of its user.
func moduleRoot() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..")
	if _, err := os.Stat(filepath.Join(root, "cluster", "go.mod")); err != nil {
		return "", fmt.Errorf("the folder cluster is not where it was when the judge was built: %w", err)
	}
	return root, nil
}

// up starts a control plane with the CRDs in it. The caller calls down, unless there is an
// error.
func (j *judge) up(ctx context.Context, bare bool) (*world, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &world{bare: bare, home: filepath.Join(j.root, "cluster"), cluster: filepath.Join(j.dir, "cluster")}
	w.meet(j)
	// By this name the cluster command knows whose it is, and removes what a judge that was
	// killed has left.
	w.name = fmt.Sprintf("test-%d-%d", os.Getpid(), planes.Add(1))
	w.kubeconfig = filepath.Join(w.home, w.name+".kubeconfig")
	if _, err := os.Stat(w.cluster); err != nil {
		if _, err := peers.Go(ctx, "build", "-C", w.home, "-o", w.cluster, "."); err != nil {
			return nil, err
		}
	}
	for _, do := range []func() error{w.start, w.connect, w.install} {
		if err := do(); err != nil {
			return nil, errors.Join(err, w.down())
		}
	}
	return w, nil
}

// meet makes the world ready for a program of which nothing is known yet.
func (w *world) meet(j *judge) {
	w.judge, w.bound, w.writes, w.baseline, w.hopeless = j, j.bound, 0, "", ""
}

// start starts what of the control plane does not run.
func (w *world) start() error {
	components := wholePlane
	if w.bare {
		components = barePlane
	}
	return execute(w.cluster, "up", "--name", w.name, "--components", components)
}

// connect makes the clients and the front.
func (w *world) connect() (err error) {
	if w.config, err = clientcmd.BuildConfigFromFlags("", w.kubeconfig); err != nil {
		return err
	}
	w.config.QPS, w.config.UserAgent = -1, "judge"
	if w.kube, err = kubernetes.NewForConfig(w.config); err != nil {
		return err
	}
	if w.dynamic, err = dynamic.NewForConfig(w.config); err != nil {
		return err
	}
	if w.front, err = newFront(w.config); err != nil {
		return err
	}
	w.through, err = w.front.proxy.Kubeconfig(w.judge.dir)
	return err
}

// install creates the CRDs, or makes them again what they were.
func (w *world) install() error {
	crds := filepath.Join(w.home, "..", "config", "crd")
	verb := "create"
	if _, err := w.dynamic.Resource(crdResource).Get(context.Background(), fooCRD, metav1.GetOptions{}); err == nil {
		verb = "replace"
	}
	for _, args := range [][]string{
		{verb, "-f", crds},
		{"wait", "--for=condition=Established", "--timeout=60s", "-f", crds},
		{"wait", "--for=create", "--timeout=60s", "namespace/default"},
	} {
		if err := execute(filepath.Join(w.home, "bin", "kubectl"), append(args, "--kubeconfig", w.kubeconfig)...); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) down() error {
	if w.front != nil {
		w.front.close()
	}
	return execute(w.cluster, "down", "--name", w.name)
}

// foos is the client of the Foos of a namespace.
func (w *world) foos(namespace string) dynamic.ResourceInterface {
	return w.dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource("foos")).Namespace(namespace)
}

// execute runs a command that is not bound to a context, and which a Ctrl-C at the terminal
// does not reach: a control plane is started completely, and then removed completely.
func execute(program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, bytes.TrimSpace(output))
	}
	return nil
}
