package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A cluster is kept whole or removed whole. kwokctl trusts each process id in a file, so the files of a kept
// cluster contain only ids of its processes.
func TestReconcileProcesses(t *testing.T) {
	for _, test := range []struct {
		name        string
		files       []string
		wantCreated bool
	}{
		{"a cluster with data is kept", []string{"kwok.yaml", "etcd/member/snap/db"}, true},
		{"its files were removed while it ran", nil, false},
		{"interrupted before etcd had data", []string{"kwok.yaml", "etcd/README"}, false},
		{"kwokctl does not know it", []string{"etcd/member/snap/db"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := cluster{home: t.TempDir(), name: "x"}
			pid := startProgram(t, &c)
			for _, file := range test.files {
				writeFile(t, filepath.Join(c.dir(), file), "")
			}
			for name, id := range map[string]string{
				"ours":             fmt.Sprint(pid),
				"ours-and-newline": fmt.Sprintln(pid),
				"anothers":         fmt.Sprint(os.Getpid()),
				"part-of-ours":     fmt.Sprint(pid)[1:],
				"empty":            "",
			} {
				writeFile(t, filepath.Join(c.dir(), "pids", name+".pid"), id)
			}

			if created, err := c.reconcileProcesses(); err != nil || created != test.wantCreated {
				t.Errorf("got created %t (%v), want %t", created, err, test.wantCreated)
			}
			var want []string
			if test.wantCreated {
				want = []string{filepath.Join(c.dir(), "pids", "ours-and-newline.pid"), filepath.Join(c.dir(), "pids", "ours.pid")}
			}
			if left, err := filepath.Glob(filepath.Join(c.dir(), "pids", "*")); err != nil || !slices.Equal(left, want) {
				t.Errorf("the files %q are left (%v), want %q", left, err, want)
			}
			_, err := os.Stat(c.dir())
			if kept := err == nil; kept != test.wantCreated || alive(pid) != test.wantCreated {
				t.Errorf("kept its files %t and its process %t, want both %t", kept, alive(pid), test.wantCreated)
			}
		})
	}
}

// A cluster reports which of its programs do not run, and why.
func TestLastLines(t *testing.T) {
	c := cluster{home: t.TempDir(), name: "x"}
	startProgram(t, &c) // called sleep
	linkProgram(t, &c, "etcd")
	linkProgram(t, &c, "kube-apiserver") // was never started
	writeFile(t, filepath.Join(c.dir(), "logs", "sleep.log"), "I am well\n")
	writeFile(t, filepath.Join(c.dir(), "logs", "etcd.log"), "starting\nbind: address already in use\n")

	want := "\netcd has stopped; the last line of its log: bind: address already in use"
	if got := c.lastLines(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(c.serves()), "not running: etcd, kube-apiserver"; got != want {
		t.Errorf("serves: %q, want %q", got, want)
	}
}

// A restarted cluster reports the ports that another program has taken, and how to free them.
func TestPortsFree(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for _, test := range []struct {
		reason, option string
		running        string // the one of etcd and kube-apiserver that runs
		want           string // "" if nothing is wrong
	}{
		{"nothing runs", "kubeApiserverPort", "", "kubeApiserver"},
		{"its own program has it", "kubeApiserverPort", "kube-apiserver", ""},
		{"another of its programs runs", "etcdPeerPort", "kube-apiserver", "etcdPeer"},
		{"no such program", "kubeSchedulerPort", "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := cluster{home: t.TempDir(), name: "x"}
			writeFile(t, filepath.Join(c.dir(), "kwok.yaml"), fmt.Sprintf("options:\n  %s: %d\n  securePort: true\n", test.option, port))
			for _, program := range []string{"etcd", "kube-apiserver"} {
				if link := linkProgram(t, &c, program); program == test.running {
					startCommand(t, link, "600")
				}
			}
			err := c.portsFree(0)
			if test.want == "" && err != nil {
				t.Errorf("error %v, want none", err)
			}
			for _, want := range []string{fmt.Sprintf("port %d (%s) is taken", port, test.want), "make cluster-down"} {
				if test.want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("error %v, want one that says %q", err, want)
				}
			}
		})
	}
}
