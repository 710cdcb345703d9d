package main

import (
	"os"
	"strings"
	"testing"
)

// A mistake on the command line prints one line that explains it, and has no other effect.
func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "say what to do: up, down or exec"},
		{[]string{"start"}, `"start" is not up, down or exec`},
		{[]string{"up", "--name", ""}, `cluster name "": use lower-case letters, digits and '-'`},
		{[]string{"up", "--name", "Mine"}, `cluster name "Mine": use`},
		{[]string{"down", "--name", "../x"}, `cluster name "../x": use`},
		{[]string{"down", "mine"}, `down: unexpected "mine": a cluster is named by --name`},
		{[]string{"exec"}, "exec: no command given after --"},
		{[]string{"exec", "--components", "etcd", "--"}, "exec: no command given after --"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			home := t.TempDir() // has no cluster that a mistake could hurt
			_, err := run(home, home, test.args)
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
