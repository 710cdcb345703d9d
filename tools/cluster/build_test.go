package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	home := newHome(t)
	calls := fakeGo(t, "example.com/a", "example.com/b")
	var out bytes.Buffer
	if err := ensure(home, home, false, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"after 0s: 1 Go modules downloaded", "2 of 2 packages compiled"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	// The server's version is the module's, and etcd has its name.
	if !strings.Contains(calls(), "version.gitVersion=v1.37.1 ") {
		t.Errorf("go build was not told the version:\n%s", calls())
	}
	if _, err := os.Stat(filepath.Join(home, "cluster", "bin", "etcd")); err != nil {
		t.Error(err)
	}

	t.Run("again, it does nothing", func(t *testing.T) {
		before := calls()
		out.Reset()
		if err := ensure(home, home, false, &out); err != nil || out.Len() > 0 || calls() != before {
			t.Errorf("got %v, output %q and these calls:\n%s", err, out.String(), calls())
		}
	})
}
