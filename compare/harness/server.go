package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/clientset"
	"example.com/byhand/compare/peers"
)

// clusters starts and removes control planes.
type clusters struct {
	// program is the built cluster command; it writes below home, its folder.
	program, home string
	last          atomic.Int64

	storing sync.Mutex
	stored  *stored
}

// newClusters builds the cluster command.
func newClusters(ctx context.Context, dir string) (*clusters, error) {
	home, err := filepath.Abs("../cluster")
	if err != nil {
		return nil, err
	}
	c := &clusters{program: filepath.Join(dir, "cluster"), home: home}
	if _, err := peers.Go(ctx, "build", "-C", c.home, "-o", c.program, "."); err != nil {
		return nil, err
	}
	return c, nil
}

// runCommand is not bound to a context, and a Ctrl-C at the terminal does not reach the
// command: a control plane is started completely, and then removed completely.
func runCommand(program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, bytes.TrimSpace(output))
	}
	return nil
}

// server is one control plane, made for one measurement and removed after it.
type server struct {
	*clusters
	name, kubeconfig string
	etcd             string // the URL of its etcd
	config           *rest.Config
	kube             kubernetes.Interface
	client           clientset.Interface
}

// up starts a control plane with the CRDs in it. The caller calls down, unless
// there is an error.
func (c *clusters) up(ctx context.Context) (*server, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// By this name the cluster command knows whose it is, and removes what a harness that
	// was killed has left.
	name := fmt.Sprintf("test-%d-%d", os.Getpid(), c.last.Add(1))
	s := &server{clusters: c, name: name, kubeconfig: filepath.Join(c.home, name+".kubeconfig")}
	start := func() error { return runCommand(s.program, "up", "--name", s.name, "--components", bare) }
	for _, do := range []func() error{start, s.connect, s.install} {
		if err := do(); err != nil {
			return nil, errors.Join(err, s.down())
		}
	}
	return s, nil
}

// etcdServers is a flag of the API server in what kwokctl keeps of a cluster.
var etcdServers = regexp.MustCompile(`--etcd-servers=(\S+)`)

// connect makes the clients.
func (s *server) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return fmt.Errorf("kubeconfig of %s: %w", s.name, err)
	}
	config.QPS, config.UserAgent = -1, "harness"
	s.config = config
	if s.kube, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if s.client, err = clientset.NewForConfig(config); err != nil {
		return err
	}
	kept, err := os.ReadFile(filepath.Join(s.home, "state", "clusters", s.name, "kwok.yaml"))
	etcd := etcdServers.FindSubmatch(kept)
	if etcd == nil {
		return fmt.Errorf("what kwokctl keeps of %s names no etcd (%v)", s.name, err)
	}
	s.etcd = string(etcd[1])
	return nil
}

func (s *server) down() error {
	return runCommand(s.program, "down", "--name", s.name)
}
