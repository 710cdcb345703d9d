package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A mistake on the command line gets one line that says what is wrong, and does
// nothing.
func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "say what to do: up, down or exec"},
		{[]string{"start"}, `"start" is none of up, down, exec`},
		{[]string{"up", "--name", ""}, `cluster name "": use lower-case letters, digits and '-'`},
		{[]string{"up", "--name", "Mine"}, `cluster name "Mine": use`},
		{[]string{"up", "--name", "my cluster"}, `cluster name "my cluster": use`},
		{[]string{"down", "--name", "../x"}, `cluster name "../x": use`},
		{[]string{"down", "--name", "x.y"}, `cluster name "x.y": use`},
		{[]string{"down", "mine"}, `down: unexpected "mine": a cluster is named by --name`},
		{[]string{"up", "mine"}, `up: unexpected "mine"`},
		{[]string{"exec"}, "exec: no command given after --"},
		{[]string{"exec", "--components", "etcd", "--"}, "exec: no command given after --"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			home := t.TempDir() // has no cluster that a mistake could hurt
			_, err := run(home, test.args)
			if err == nil {
				t.Fatal("got no error")
			}
			if !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line that begins with %q", err, test.want)
			}
			if files, err := os.ReadDir(home); err != nil || len(files) > 0 {
				t.Errorf("it made %v, %v; want nothing done", files, err)
			}
		})
	}
}

func TestSweep(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dead := fmt.Sprint("test-", ended.Process.Pid)
	mine := fmt.Sprint("test-", os.Getpid())

	// A cluster of each name, with one process.
	home := newHome(t)
	names := []string{dead, dead + "-crash", mine, mine + "-crash", "test-drive", "byhand"}
	for _, name := range names {
		c := cluster{home: home, name: name}
		startProgram(t, &c)
		writeFile(t, c.kubeconfig(), "")
		writeFile(t, c.kwokctlConfig(), "")
	}
	if err := sweep(home); err != nil {
		t.Fatal(err)
	}

	for _, name := range names {
		c := cluster{home: home, name: name}
		running, err := c.processes()
		if err != nil {
			t.Fatal(err)
		}
		left := len(running)
		for _, file := range []string{c.dir(), c.kubeconfig(), c.kwokctlConfig()} {
			if _, err := os.Stat(file); err == nil {
				left++
			}
		}
		if swept := strings.HasPrefix(name, dead); swept && left != 0 {
			t.Errorf("%s, whose maker is gone, has %d files and processes left", name, left)
		} else if !swept && left != 4 {
			t.Errorf("%s, which a living process has, has %d of 4 files and processes left", name, left)
		}
	}
}
