package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const kwokctlConfigFormat = `apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
options:
  runtime: binary
  # kwokctl's default is every interface.
  bindAddress: 127.0.0.1
  # kwokctl's choice is the highest port that is free, for each cluster anew.
  etcdPort: %d
  etcdPeerPort: %d
  kubeApiserverPort: %d
  kubeControllerManagerPort: %d
  kubeSchedulerPort: %d
  kwokControllerPort: %d
  # Five times as many, because kwokctl multiplies them: a kwok that starts again runs no Pod
  # until the Lease that the one before has on the node expires.
  nodeLeaseDurationSeconds: 2
  # Without a name for each program, kwokctl downloads it.
  etcdBinary: "%[7]s/etcd"
  kubeApiserverBinary: "%[7]s/kube-apiserver"
  kubeControllerManagerBinary: "%[7]s/kube-controller-manager"
  kubeSchedulerBinary: "%[7]s/kube-scheduler"
  kwokControllerBinary: "%[7]s/kwok"
  kubectlBinary: "%[7]s/kubectl"
componentsPatches:
# There is one of each. With leader election they would exit when a busy machine
# delays the renewal of a Lease for 10 s.
- name: kube-controller-manager
  extraArgs:
  - key: leader-elect
    value: "false"
- name: kube-scheduler
  extraArgs:
  - key: leader-elect
    value: "false"
- name: kube-apiserver
  extraArgs:
  # Only a client that may update an object's finalizers may block its deletion by an owner
  # reference. Off by default, but on in some clusters: a controller that lacks
  # that permission must fail here first.
  - key: enable-admission-plugins
    value: OwnerReferencesPermissionEnforcement
  # Alpha, and off elsewhere. It changes only what names a shardSelector: chapters/cache.
  - key: feature-gates
    value: ShardedListAndWatch=true
  # Whom an aggregated API server believes who asks: see frontproxy.go.
%[8]s`

func (c *cluster) kwokctlConfig() string {
	return filepath.Join(c.home, "cluster", "state", c.name+".kwokctl.yaml")
}

func (c *cluster) writeKwokctlConfig() error {
	ports, err := freePorts(6)
	if err != nil {
		return err
	}
	content := fmt.Sprintf(kwokctlConfigFormat, ports[0], ports[1], ports[2], ports[3], ports[4], ports[5], c.bin(""), c.frontProxyArgs())
	return os.WriteFile(c.kwokctlConfig(), []byte(content), 0o600)
}

// path is PATH with the cluster's own programs first.
func (c *cluster) path() string {
	return c.bin("") + string(os.PathListSeparator) + os.Getenv("PATH")
}

func (c *cluster) kwokctl(args ...string) error {
	return c.quiet("kwokctl", append(args, "--name="+c.name)...)
}

func (c *cluster) kubectl(args ...string) error {
	return c.quiet("kubectl", append(args, "--kubeconfig="+filepath.Join(c.dir(), "kubeconfig.yaml"))...)
}

// quiet runs a program whose output matters only when it fails.
func (c *cluster) quiet(program string, args ...string) error {
	cmd := exec.Command(c.bin(program), args...)
	// kwokctl would keep its data in ~/.kwok, and run the kubectl that it finds in
	// PATH. kubectl would keep its cache in ~/.kube.
	cmd.Env = append(os.Environ(),
		"PATH="+c.path(),
		"KWOK_WORKDIR="+filepath.Join(c.home, "cluster", "state"),
		"KUBECACHEDIR="+filepath.Join(c.dir(), "kubectl-cache"))
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(output))
	}
	return nil
}

// freePorts returns n random ports on which no program listens, outside the range for outgoing connections.
// They are random because this etcd requires no credentials. If a new cluster took a dead etcd's port, the old
// cluster's API server would continue with the new cluster's data.
func freePorts(n int) ([]int, error) {
	var ports []int
	for tries := 0; len(ports) < n; tries++ {
		if tries == 1000 {
			return nil, errors.New("no port between 10000 and 32767 is free")
		}
		port := 10000 + rand.IntN(22768)
		if !slices.Contains(ports, port) && free(fmt.Sprint("127.0.0.1:", port)) && free(fmt.Sprint(":", port)) {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// savedPort matches a port in the file in which kwokctl keeps a cluster's settings.
var savedPort = regexp.MustCompile(`(?m)^  (\w+)Port: (\d+)$`)

// portsFree returns an error if another program has a port of a stopped program of the cluster: that program
// would wait for the port and print nothing. A process that was just killed may hold its port for a moment, so
// portsFree retries until patience has passed.
func (c *cluster) portsFree(patience time.Duration) error {
	deadline := time.Now().Add(patience)
	saved, err := os.ReadFile(filepath.Join(c.dir(), "kwok.yaml"))
	if err != nil {
		return err
	}
	stopped, err := c.stopped()
	if err != nil {
		return err
	}
	for _, match := range savedPort.FindAllStringSubmatch(string(saved), -1) {
		// kubeApiserverPort is kube-apiserver's, etcdPort and etcdPeerPort are etcd's.
		listens := func(program string) bool {
			return strings.HasPrefix(strings.ToLower(match[1]), strings.ReplaceAll(program, "-", ""))
		}
		for slices.ContainsFunc(stopped, listens) && !free("127.0.0.1:"+match[2]) {
			if time.Now().After(deadline) {
				return fmt.Errorf("cluster %s cannot start: its port %s (%s) is taken by another program. End that program, or remove the cluster with its data (make cluster-down) and start a new one (make cluster)", c.name, match[2], match[1])
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

func free(address string) bool {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
}
