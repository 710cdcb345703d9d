//go:build bare

package e2e

import (
	"flag"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/requests"
	"example.com/byhand/internal/testkit/subprocess"
)

var (
	foos    = flag.Int("foos", 2000, "how many Foos")
	workers = flag.Int("workers", 16, "how many workers")
	rounds  = flag.Int("rounds", 1, "how many cold starts")
	idle    = flag.Duration("idle", 65*time.Second, "how long to watch for writes after the last one")
	// Another program is told the namespace, and finds the cluster by $KUBECONFIG.
	controller = flag.String("controller", "", "another `program` at the root of the repository, with its flags (default: bin/byhand)")
)

// TestColdStart starts the program on many Foos that have nothing yet, on etcd and
// kube-apiserver alone, and counts at the API server what it writes: one POST and
// one status PUT per Foo, no 409, and afterwards nothing. It fails on a count,
// never on a time: times and memory are for compare/harness.
func TestColdStart(t *testing.T) {
	for round := range *rounds {
		coldStart(t, round == *rounds-1)
	}
}

func coldStart(t *testing.T, watchIdle bool) {
	s := newServer(t)
	s.createFoos(*foos)
	before := s.requests()

	statuses, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer statuses.Stop()
	// Two resyncs fall into the time in which nothing may be written.
	resync := max(*idle/3, time.Second).String()
	command := []string{"bin/byhand", "--workers", strconv.Itoa(*workers), "--resync", resync}
	if *controller != "" {
		command = strings.Fields(*controller)
	}
	cmd := exec.Command(command[0], append(command[1:], "--namespace", s.namespace)...)
	cmd.Dir = root
	program := subprocess.Run(t, cmd, deadline)
	for late, written := time.After(deadline), 0; written < *foos; {
		select {
		case event := <-statuses.ResultChan():
			if event.Type == watch.Modified {
				written++
			}
		case <-program.Done():
			t.Fatalf("the program has ended: %s", program.Ended())
		case <-late:
			t.Fatalf("%d of %d Foos have a status", written, *foos)
		}
	}
	t.Logf("%s: %d Foos have a status after %s", strings.Join(command, " "), *foos, time.Since(program.Started).Round(time.Millisecond))
	if watchIdle {
		// Nothing can be waited for: the claim is that nothing happens.
		t.Logf("watching for writes for %s", *idle)
		time.Sleep(*idle)
	}
	program.Stop()

	want := requests.Counts{
		{Verb: "POST", Resource: "deployments", Code: "201"}:                *foos,
		{Verb: "PUT", Resource: "foos", Subresource: "status", Code: "200"}: *foos,
	}
	if diff := cmp.Diff(want, s.requests().Minus(before).Writes()); diff != "" {
		t.Errorf("writes that the API server has counted (-want +got):\n%s", diff)
	}
}

// createFoos creates many Foos, and gives the test that waits for them more time.
func (s *server) createFoos(n int) {
	deadline = max(deadline, time.Duration(n)*50*time.Millisecond)
	workqueue.ParallelizeUntil(s.Context(), 16, n, func(i int) {
		name := fmt.Sprintf("foo-%05d", i)
		foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec(name, 1)}
		if _, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Create(s.Context(), foo, metav1.CreateOptions{}); err != nil {
			s.Error(err)
		}
	})
}

// requests are what the API server has answered.
func (s *server) requests() requests.Counts {
	s.Helper()
	counts, err := requests.Read(s.Context(), s.kube.Discovery().RESTClient())
	if err != nil {
		s.Fatal(err)
	}
	return counts
}
