//go:build bare

package e2e

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/requests"
)

// The API server is killed and comes back, and the controller goes on with what it
// has: it writes nothing that it wrote before.
func TestAPIServerRestart(t *testing.T) {
	s := newServer(t)
	s.createFoos(*foos)
	c := s.controller()
	c.prints(*foos, "/status → 200")

	s.restartAPIServer()
	// A new Foo shows that the controller is back, with all that its watches brought.
	s.createFoo("after", spec("after", 1))
	s.eventually("the new Foo has a status", func() error {
		foo, err := s.foo("after")
		if err == nil && len(foo.Status.Conditions) == 0 {
			err = fmt.Errorf("none")
		}
		return err
	})
	c.stop()
	// A new process counts from zero.
	want := requests.Counts{
		{Verb: "POST", Resource: "deployments", Code: "201"}:                1,
		{Verb: "POST", Resource: "foos", Code: "201"}:                       1,
		{Verb: "PUT", Resource: "foos", Subresource: "status", Code: "200"}: 1,
	}
	if diff := cmp.Diff(want, s.requests().Writes()); diff != "" {
		t.Errorf("writes that the API server has counted since its start (-want +got):\n%s", diff)
	}
	s.settles("after")
}

// restartAPIServer kills the API server and starts it with the same command line.
func (s *server) restartAPIServer() {
	s.Helper()
	host, err := url.Parse(s.config.Host)
	if err != nil {
		s.Fatal(err)
	}
	folder := processOf(s.T, "kube-apiserver", "--secure-port="+host.Port())
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			s.Fatal(err)
		}
		return content
	}
	args := strings.Split(strings.TrimRight(string(read("cmdline")), "\x00"), "\x00")
	again := exec.Command(args[0], args[1:]...)
	again.Env = strings.Split(strings.TrimRight(string(read("environ")), "\x00"), "\x00")
	if again.Dir, err = os.Readlink(filepath.Join(folder, "cwd")); err != nil {
		s.Fatal(err)
	}
	// It outlives this test: whoever made the cluster stops it, by its command line.
	again.SysProcAttr = &syscall.SysProcAttr{Setsid: true}

	var pid int
	if _, err := fmt.Sscan(filepath.Base(folder), &pid); err != nil {
		s.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
	// Its last thread may hold the port for a moment longer than the process lives.
	s.eventually("the port of the dead API server is free", func() error {
		listener, err := net.Listen("tcp", host.Host)
		if err != nil {
			return err
		}
		return listener.Close()
	})
	said, err := os.Create(filepath.Join(s.TempDir(), "kube-apiserver.log"))
	if err != nil {
		s.Fatal(err)
	}
	again.Stdout, again.Stderr = said, said
	if err := again.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if text, err := os.ReadFile(said.Name()); s.Failed() {
			s.Logf("what the new API server said last (%v):\n%s", err, text[max(0, len(text)-4000):])
		}
		_ = said.Close()
	})
	s.eventually("the API server is back", func() error {
		_, err := s.kube.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(s.Context())
		return err
	})
}

// processOf returns the folder below /proc of the one process whose command line
// has a program of this name and this argument.
func processOf(t *testing.T, program, argument string) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		cmdline, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		args := strings.Split(string(cmdline), "\x00")
		if filepath.Base(args[0]) == program && strings.Contains(string(cmdline), "\x00"+argument+"\x00") {
			return filepath.Dir(file)
		}
	}
	t.Fatalf("no %s runs with %s on this machine", program, argument)
	return ""
}
