//go:build integration

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/internal/testkit"
)

// The writes for one At, in their order.
var lifeOfAt = []string{"claim", "create", "note", "done", "release"}

// writeOf says for which of these Ats a write is, and which it is. It leaves the body as it
// was.
func writeOf(r *http.Request, ats ...string) (at, write string) {
	text, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	for _, name := range ats {
		// In the path, and in a Pod's name, however the Pod is encoded.
		if strings.Contains(r.URL.Path, "/"+name) || r.Method == http.MethodPost && bytes.Contains(text, []byte(name+"-")) {
			at = name
		}
	}
	var object struct {
		Status AtStatus `json:"status"`
	}
	switch err := json.Unmarshal(text, &object); {
	case r.Method == http.MethodPost:
		return at, "create"
	case r.Method == http.MethodPatch:
		return at, "release"
	case err == nil && object.Status.Phase == PhaseRunning && object.Status.PodUID == "":
		return at, "claim"
	case err == nil && object.Status.Phase == PhaseRunning:
		return at, "note"
	default:
		return at, "done"
	}
}

// TestKilled kills the program before and after each of the writes, of one At for each, and
// starts it again.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	onePodEach := c.countPods()
	proxy, kubeconfig := c.Proxy()
	var program atomic.Pointer[chaptertest.Program]
	proxy.Kill = func() { program.Load().Kill() }
	plan, names := map[string]testkit.Fault{}, []string(nil)
	for _, write := range lifeOfAt {
		for when, fault := range map[string]testkit.Fault{"before": testkit.KillBefore, "after": testkit.KillAfter} {
			name := when + "-" + write
			plan[name+" "+write], names = fault, append(names, name)
			c.create(name, past)
		}
	}
	var mu sync.Mutex
	proxy.OnWrite(func(_ int, r *http.Request) testkit.Fault {
		at, write := writeOf(r, names...)
		mu.Lock()
		defer mu.Unlock()
		fault := plan[at+" "+write]
		delete(plan, at+" "+write)
		return fault
	})
	start := func() { program.Store(c.Start("--kubeconfig", kubeconfig, "--namespace", c.Namespace)) }
	start()
	c.Eventually("every At is DONE", func() error {
		if program.Load().Ended() != "" {
			start()
		}
		return errors.Join(c.endNotedPods(), c.released(PhaseDone))
	})
	mu.Lock()
	defer mu.Unlock()
	if len(plan) > 0 {
		t.Errorf("nothing was killed at %v", plan)
	}
	onePodEach(len(names))
}
