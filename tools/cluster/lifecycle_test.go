//go:build integration

package main

// These tests start about a dozen real clusters.

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestTwoClusters starts two clusters at the same time and runs all tests on these, because a start takes
// seconds.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	one, two := newTestCluster(t, "one"), newTestCluster(t, "two")
	for _, step := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"both start", func(t *testing.T) { testTwoStarts(t, one, two) }},
		{"what it runs", func(t *testing.T) { testRunning(t, one) }},
		{"up again", func(t *testing.T) { testUpAgain(t, one) }},
		{"up after a crash", func(t *testing.T) { testUpAfterCrash(t, two) }},
		{"kept up", func(t *testing.T) { testKeptUp(t, one) }},
	} {
		if !t.Run(step.name, step.test) {
			return
		}
	}
}

func testTwoStarts(t *testing.T, one, two *testCluster) {
	var starts sync.WaitGroup
	for _, c := range []*testCluster{one, two} {
		starts.Go(func() {
			out, err := c.command(t, "up", "--name", c.name).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "cluster "+c.name+" is ready after ") {
				t.Errorf("up: %v\n%s", err, out)
			}
		})
	}
	starts.Wait()
	if t.Failed() {
		return
	}
	wantWhole(t, one)
	wantWhole(t, two)
	one.query(t, "create", "configmap", "of-one")
	if got := two.query(t, "get", "configmap", "of-one", "--ignore-not-found"); got != "" {
		t.Errorf("the second cluster has the first one's ConfigMap: %s", got)
	}
}

func testRunning(t *testing.T, c *testCluster) {
	t.Run("the server has go.mod's version", func(t *testing.T) {
		content, err := os.ReadFile(filepath.Join(c.module, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		version := regexp.MustCompile(`k8s.io/kubernetes (v\S+)`).FindSubmatch(content)
		got := c.query(t, "get", "--raw", "/version")
		if want := fmt.Sprintf(`"gitVersion": "%s"`, version[1]); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("no component can lose a Lease", func(t *testing.T) {
		leases := c.query(t, "get", "leases", "--namespace=kube-system", "--output=name")
		for _, component := range []string{"kube-controller-manager", "kube-scheduler"} {
			if strings.Contains(leases, component) {
				t.Errorf("%s elects a leader, and exits if a busy machine delays it for 10 s", component)
			}
		}
	})
	// All of 127.0.0.0/8 is this machine: 127.0.0.2 reaches a program that listens on every interface, but not
	// one that listens on 127.0.0.1.
	t.Run("it listens on loopback only", func(t *testing.T) {
		saved, err := os.ReadFile(filepath.Join(c.dir(), "kwok.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		ports := savedPort.FindAllStringSubmatch(string(saved), -1)
		if running := c.running(t); len(ports) < len(running) {
			t.Errorf("%d programs run, and only these ports are known: %v", len(running), ports)
		}
		for _, port := range ports {
			if free("127.0.0.1:" + port[2]) {
				t.Errorf("nothing listens on %s", port[1])
			}
			if other, err := net.Dial("tcp", "127.0.0.2:"+port[2]); err == nil {
				_ = other.Close()
				t.Errorf("%s is reached at 127.0.0.2, too", port[1])
			}
		}
	})
}

func testUpAgain(t *testing.T, c *testCluster) {
	t.Run("up reports a running cluster and starts nothing", func(t *testing.T) {
		before := c.running(t)
		if out, want := c.up(t), "cluster "+c.name+" is running: export KUBECONFIG="+c.kubeconfig()+"\n"; out != want {
			t.Errorf("up said %q, want %q", out, want)
		}
		if after := c.running(t); !maps.Equal(after, before) {
			t.Errorf("it runs %v, want %v as before", after, before)
		}
	})
	t.Run("it creates the node that is missing after an interrupted up", func(t *testing.T) {
		c.query(t, "delete", "nodes", "--all")
		if err := os.Remove(c.kubeconfig()); err != nil {
			t.Fatal(err)
		}
		c.up(t)
		wantWhole(t, c)
	})
}

// After a crash or a reboot the processes are gone, but the data is there.
func testUpAfterCrash(t *testing.T, c *testCluster) {
	c.query(t, "create", "configmap", "kept", "--from-literal=answer=42")
	sigkill(t, c.running(t))
	if out := c.up(t); !strings.Contains(out, "cluster "+c.name+": starting it again\netcd has stopped; the last line of its log: ") {
		t.Errorf("up said:\n%s", out)
	}
	wantWhole(t, c)
	if got := c.query(t, "get", "configmap", "kept", "-o", "jsonpath={.data.answer}"); got != "42" {
		t.Errorf("the ConfigMap from before the crash holds %q, want 42", got)
	}
}

// While exec runs a command, it restarts each program of the cluster that exits. An API server that is frozen
// for 20 s makes no other program exit. Afterwards the cluster works, and still runs when exec ends.
func testKeptUp(t *testing.T, c *testCluster) {
	dir := t.TempDir()
	cmd := c.command(t, "exec", "--name", c.name, "--", "sh", "-c", "touch "+dir+"/began; until test -e "+dir+"/stop; do sleep 0.1; done")
	output, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = output
	said := func() string {
		content, _ := os.ReadFile(output.Name())
		return string(content)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the command to begin", func() bool {
		_, err := os.Stat(filepath.Join(dir, "began"))
		return err == nil
	})
	starts := 0
	for program, pid := range c.running(t) {
		before := c.running(t)
		sigkill(t, map[string]int{program: pid})
		starts++
		waitFor(t, program+" to start again", func() bool { return strings.Count(said(), " is ready after ") == starts })
		if want := "\n" + program + " has stopped; the last line of its log: "; !strings.Contains(said(), want) {
			t.Errorf("exec does not say %q:\n%s", want, said())
		}
		for other, id := range c.running(t) {
			if again := id != before[other]; again != (other == program) {
				t.Errorf("after %s was killed, %s restarted: %t, want %t", program, other, again, !again)
			}
		}
	}
	apiServer := c.running(t)["kube-apiserver"]
	send(t, apiServer, syscall.SIGSTOP)
	time.Sleep(20 * time.Second)
	waitFor(t, "exec to report it", func() bool { return strings.Contains(said(), "cluster "+c.name+": kube-apiserver is not ready: ") })
	send(t, apiServer, syscall.SIGCONT)
	after := c.running(t)
	c.query(t, "create", "deployment", "web", "--image=nginx")
	c.query(t, "rollout", "status", "deployment", "web", "--timeout=60s")
	if now := c.running(t); !maps.Equal(now, after) {
		t.Errorf("the API server was frozen: processes %v, want %v as before", now, after)
	}
	writeFile(t, filepath.Join(dir, "stop"), "")
	if err := cmd.Wait(); err != nil {
		t.Errorf("exec: %v\n%s", err, said())
	}
	wantWhole(t, c)
}
