package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"example.com/byhand/clientset"
)

// clusterPrefix, the process id of the harness and a number make the name of a
// control plane, so that one whose harness was killed can be told from one in use.
const clusterPrefix = "cmp-"

// clusters starts and removes control planes.
type clusters struct {
	// program is the built cluster command; it writes below home, its folder.
	program, home string
	// components are what a control plane consists of; "" means all.
	components string
	last       atomic.Int64

	storing sync.Mutex
	stored  *stored
}

// newClusters builds the cluster command and removes what killed harnesses left.
func newClusters(ctx context.Context, dir, components string) (*clusters, error) {
	home, err := filepath.Abs("../cluster")
	if err != nil {
		return nil, err
	}
	c := &clusters{program: filepath.Join(dir, "cluster"), home: home, components: components}
	build := exec.CommandContext(ctx, "go", "build", "-o", c.program, ".")
	build.Dir = c.home
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the cluster command: %w\n%s", err, output)
	}
	return c, c.sweep()
}

func (c *clusters) sweep() error {
	left, err := filepath.Glob(filepath.Join(c.home, "state", "clusters", clusterPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), clusterPrefix), "-")
		pid, err := strconv.Atoi(maker)
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if err := runCommand(c.program, "down", "--name", filepath.Base(dir)); err != nil {
			return err
		}
	}
	return nil
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
	// uncompressed is the same kubeconfig, but disables compression.
	uncompressed string

	etcd   string // the URL of its etcd
	config *rest.Config
	kube   kubernetes.Interface
	client clientset.Interface
}

// up starts a control plane with the CRDs in it. The caller calls down, unless
// there is an error.
func (c *clusters) up(ctx context.Context) (*server, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s%d-%d", clusterPrefix, os.Getpid(), c.last.Add(1))
	s := &server{clusters: c, name: name, kubeconfig: filepath.Join(c.home, name+".kubeconfig")}
	err := runCommand(s.program, "up", "--name", s.name, "--components", s.components)
	if err == nil {
		err = s.connect()
	}
	if err == nil {
		err = s.install()
	}
	if err != nil {
		return nil, errors.Join(err, s.down())
	}
	return s, nil
}

// connect makes the clients.
func (s *server) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return fmt.Errorf("kubeconfig of %s: %w", s.name, err)
	}
	config.QPS, config.UserAgent = -1, "harness"
	s.config = config
	if err := s.disableCompression(); err != nil {
		return err
	}
	if s.kube, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if s.client, err = clientset.NewForConfig(config); err != nil {
		return err
	}
	port, err := s.etcdPort()
	if err != nil {
		return err
	}
	s.etcd = fmt.Sprintf("http://127.0.0.1:%d", port)
	return nil
}

// disableCompression makes the kubeconfig of the tuned peers. Otherwise the API server
// compresses each event of a streaming list separately, also those after the list itself
// (apiserver: perFlushGzipWriter): CPU time for bandwidth, which loopback has.
func (s *server) disableCompression() error {
	content, err := clientcmd.LoadFromFile(s.kubeconfig)
	if err != nil {
		return err
	}
	for _, cluster := range content.Clusters {
		cluster.DisableCompression = true
	}
	s.uncompressed = filepath.Join(filepath.Dir(s.program), s.name+".kubeconfig")
	return clientcmd.WriteToFile(*content, s.uncompressed)
}

func (s *server) down() error {
	return runCommand(s.program, "down", "--name", s.name)
}

// state is the folder of its data.
func (s *server) state() string { return filepath.Join(s.home, "state", "clusters", s.name) }

// etcdPort reads it from what kwokctl keeps of the cluster.
func (s *server) etcdPort() (int, error) {
	file := filepath.Join(s.state(), "kwok.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	// The file may hold more than one document; the first one describes the cluster.
	first, _, _ := bytes.Cut(content, []byte("\n---\n"))
	var kept struct {
		Options struct{ EtcdPort int }
	}
	if err := yaml.Unmarshal(first, &kept); err != nil || kept.Options.EtcdPort == 0 {
		return 0, fmt.Errorf("%s names no port of etcd (%v)", file, err)
	}
	return kept.Options.EtcdPort, nil
}
