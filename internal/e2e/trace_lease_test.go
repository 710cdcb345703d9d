//go:build integration

package e2e

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/internal/trace"
)

// A process whose Lease another one takes ends, and its trace says why: the last
// thing that it has to say is printed.
func TestTraceOfALostLease(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.replica(works, "--trace=json")
	taken := []byte(`{"spec":{"holderIdentity":"another-process"}}`)
	s.eventually("take the Lease", func() error {
		_, err := s.kube.CoordinationV1().Leases(s.namespace).Patch(t.Context(), "byhand", types.MergePatchType, taken, metav1.PatchOptions{})
		return err
	})
	if code := p.Exit(); code != 1 {
		t.Errorf("exit code %d after the Lease was lost, want 1", code)
	}

	steps := (&traced{server: s, program: p}).steps()
	at := func(what string) int {
		return slices.IndexFunc(steps, func(step trace.Step) bool { return step.Part == trace.PartProgram && step.What == what })
	}
	leads, lost := at(trace.Leader), at(trace.Lost)
	if leads < 0 || lost < leads {
		t.Fatalf("of %d steps the leader's is number %d and the loss number %d, want both in this order", len(steps), leads, lost)
	}
	if step := steps[lost]; !strings.Contains(step.Text, "the lease is lost") || step.File != "main.go" || step.Func != "run" {
		t.Errorf("the loss is told as %+v", step)
	}
}
