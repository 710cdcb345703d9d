//go:build bare

package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/testkit/subprocess"
)

// A terminal that is stopped, a pager that waits, a pipe whose reader has gone: the
// controller works on, and ends when it is told to. So many Foos have more lines than fit
// into a pipe.
func TestOutputWithoutReader(t *testing.T) {
	for _, reader := range []string{"stalled", "closed"} {
		for form, created := range map[string]int{"--trace=false": 200, "--trace": 30} {
			t.Run(reader+" "+form, func(t *testing.T) {
				s := newServer(t)
				s.createFoos(created)
				out, in, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				cmd := exec.Command(binary, "--namespace", s.namespace, form)
				cmd.Stdout, cmd.Stderr = in, in
				p := subprocess.Run(t, cmd, deadline)
				_ = in.Close()
				if _, err := out.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
				if reader == "closed" {
					_ = out.Close()
				}

				s.eventually("every Foo gets its Deployment", func() error {
					list, err := s.kube.AppsV1().Deployments(s.namespace).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
					if err == nil && len(list.Items) < created {
						err = fmt.Errorf("%d of %d", len(list.Items), created)
					}
					return err
				})
				p.Stop()
				if rest, _ := io.ReadAll(out); reader == "stalled" && len(rest) < 32<<10 {
					t.Errorf("%d bytes were in the pipe: it was never full", len(rest))
				}
			})
		}
	}
}
