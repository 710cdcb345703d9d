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
	"example.com/byhand/internal/run/subprocess"
	"example.com/byhand/internal/tests/requests"
)

var (
	foos    = flag.Int("foos", 2000, "how many Foos")
	workers = flag.Int("workers", 16, "how many workers")
	idle    = flag.Duration("idle", 65*time.Second, "how long to watch for writes after the last one")
	// Another program gets --namespace, and reads $KUBECONFIG.
	controller = flag.String("controller", "", "another `program` at the root of the repository, with its flags (default: bin/byhand)")
)

// TestColdStart starts the program on many new Foos and counts its writes at the API server: one POST and one
// status PUT per Foo, no 409, and nothing afterwards. chapters/compare/harness measures times and memory.
func TestColdStart(t *testing.T) {
	s := newServer(t)
	s.createFoos(*foos)
	before := s.requests()

	statuses, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer statuses.Stop()
	// While nothing may be written, two resyncs happen.
	resync := max(*idle/3, time.Second).String()
	command := []string{"bin/byhand", "--workers", strconv.Itoa(*workers), "--resync", resync}
	if *controller != "" {
		command = strings.Fields(*controller)
	}
	cmd := exec.Command(command[0], append(command[1:], "--namespace", s.namespace)...)
	cmd.Dir = root
	limit := deadline + time.Duration(*foos)*50*time.Millisecond
	program := subprocess.Run(t, cmd, limit)
	for late, written := time.After(limit), 0; written < *foos; {
		select {
		case event, open := <-statuses.ResultChan():
			if !open {
				t.Fatalf("the API server ended the watch after %d of %d statuses", written, *foos)
			}
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
	// There is no condition to wait for: the test checks that nothing happens.
	t.Logf("watching for writes for %s", *idle)
	time.Sleep(*idle)
	program.Stop()

	want := requests.Counts{
		{Verb: "POST", Resource: "deployments", Code: "201"}:                *foos,
		{Verb: "PUT", Resource: "foos", Subresource: "status", Code: "200"}: *foos,
	}
	if diff := cmp.Diff(want, s.requests().Minus(before).Writes()); diff != "" {
		t.Errorf("writes that the API server has counted (-want +got):\n%s", diff)
	}
}

func (s *server) createFoos(n int) {
	workqueue.ParallelizeUntil(s.Context(), 16, n, func(i int) {
		name := fmt.Sprintf("foo-%05d", i)
		foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec(name, 1)}
		if _, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Create(s.Context(), foo, metav1.CreateOptions{}); err != nil {
			s.Error(err)
		}
	})
}

func (s *server) requests() requests.Counts {
	s.Helper()
	counts, err := requests.Read(s.Context(), s.kube.Discovery().RESTClient())
	if err != nil {
		s.Fatal(err)
	}
	return counts
}
