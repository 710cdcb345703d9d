//go:build integration

package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// --help exits with 0, an unknown flag with 2. Every other mistake exits with 1, and the last line says
// what to do next.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	const oneLine = `^(\d\d:\d\d:\d\d.*\n)*byhand: ` // after a log that may have begun
	for _, test := range []struct {
		args []string
		code int
		want string // a regular expression
	}{
		{[]string{"--help"}, 0, `Exit code 0: it was told to end`},
		{[]string{"--no-such-flag"}, 2, `flag provided but not defined: -no-such-flag`},
		{[]string{"--workers", "0"}, 1, oneLine + `.*--workers must be at least 1.*\n$`},
		{[]string{"--kube-api-qps", "0"}, 1, oneLine + `.*--kube-api-qps must not be 0.*\n$`},
		{[]string{"--kube-api-qps", "5", "--kube-api-burst", "0"}, 1, oneLine + `.*--kube-api-burst must be at least 1.*\n$`},
		{[]string{"--resync", "-1s"}, 1, oneLine + `.*--resync must not be negative.*\n$`},
		{[]string{"--trace", "default/foo"}, 1, oneLine + `.*flags only.*after its =.*\n$`},
		{[]string{"config/samples"}, 1, oneLine + `.*flags only.*\n$`},
	} {
		p := start(t, nil, test.args...)
		if code := p.Exit(); code != test.code || !regexp.MustCompile(test.want).MatchString(p.Output()) {
			t.Errorf("%s: exit code %d, want %d and %s:\n%s", test.args, code, test.code, test.want, p.Output())
		}
	}
}

// A signal lets running reconciles finish. A second signal ends the program at once.
func TestSignals(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	// A proxy holds each POST until the test releases it. By then the first POST's sender has exited.
	posted, release := make(chan struct{}, 1), make(chan struct{})
	var posts atomic.Int32
	proxy, through := s.proxied(s.config)
	proxy.Intercept(func(_ http.ResponseWriter, r *http.Request) (first bool) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/deployments") {
			first = posts.Add(1) == 1
			posted <- struct{}{}
			<-release
		}
		return first
	})
	s.createFoo("foo", spec("deployment", 1))

	// Two signals: the program ends at once.
	impatient := s.controller("--kubeconfig", through)
	<-posted
	impatient.Signal(syscall.SIGINT)
	// Repeat the signal: only one that arrives after the first was handled ends the program.
	for impatient.Ended() == "" {
		_ = impatient.Process.Signal(syscall.SIGINT)
	}
	if code := impatient.Exit(); code != -1 {
		t.Errorf("exit code %d after two signals, want an end by signal", code)
	}

	// One signal: the running reconcile finishes its POST and the status.
	patient := s.controller("--kubeconfig", through)
	<-posted
	patient.Signal(syscall.SIGTERM)
	close(release)
	if code := patient.Exit(); code != 0 {
		t.Errorf("exit code %d after one signal, want 0", code)
	}
	for _, want := range []string{"sent     POST", "/foos/foo/status → 200", "stopped: all workers have finished"} {
		if !strings.Contains(patient.Output(), want) {
			t.Errorf("the program does not print %q", want)
		}
	}
}
