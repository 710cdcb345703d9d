package anykind

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/script"
)

// ReadScript reads a script and checks that each line of allow begins with a scenario.
func ReadScript(file string) (*stage.Told, error) {
	s, err := script.Read(file)
	if err != nil {
		return nil, err
	}
	t := newTold(s)
	var names []string
	for _, sc := range Scenarios(t) {
		names = append(names, sc.Name)
	}
	for _, line := range s.Allow {
		if name, _, _ := strings.Cut(line.Text, " "); !slices.Contains(names, name) {
			return nil, s.Wrong(line.At, "a line of allow must begin with a scenario, one of %s", strings.Join(names, ", "))
		}
	}
	return t, nil
}

func newTold(s *script.Script) *stage.Told {
	return &stage.Told{Script: s, Users: map[schema.GroupVersionResource]bool{}, Generated: map[string]bool{}, Masked: map[string]bool{}, History: map[string]bool{}, Namespaced: map[schema.GroupResource]bool{}}
}

// plays plays a step of the script.
func plays(i int) stage.Step {
	return func(s *stage.Stage) {
		t := s.Judge.Told
		s.Part.Step, s.Part.Began = i, time.Now()
		if k := t.Kind; k != nil {
			builtIn[i].play(s, k, k.Path(s.Namespace, "a"))
			return
		}
		ctx, cancel := context.WithTimeoutCause(s.Ctx, time.Minute, errors.New("it has not ended after a minute; kubectl delete waits for finalizers, unless it has --wait=false"))
		defer cancel()
		c := exec.CommandContext(ctx, "sh", "-c", t.Steps[i].Text)
		c.Dir, c.WaitDelay = filepath.Dir(t.File), time.Second
		c.Env = append(os.Environ(), "NAMESPACE="+s.Namespace, "KUBECONFIG="+s.Part.Kubeconfig, "KUBECACHEDIR="+filepath.Join(s.Judge.Dir, "cache"),
			"PATH="+s.Plane.Home+string(filepath.ListSeparator)+os.Getenv("PATH"))
		if output, err := c.CombinedOutput(); err != nil {
			stage.Check(stage.NotJudged(fmt.Sprintf("%s: %v\n%s", lastStep(s), cmp.Or(context.Cause(ctx), err), bytes.TrimSpace(output))))
		}
	}
}

func lastStep(s *stage.Stage) string {
	return "step " + s.Judge.Told.Steps[s.Part.Step].Name
}

// keeps waits until the stored state is as after the last played step without a fault: P1, P4, P6.
func keeps(s *stage.Stage) { keepsWithin(s, s.Bound) }

// keepsWithin is keeps with a given bound.
func keepsWithin(s *stage.Stage, bound time.Duration) {
	t := s.Judge.Told
	var all []script.Difference
	s.Within(bound, func() bool {
		now, _ := s.Look()
		all = now.Against(t.Ends[s.Part.Step].Stored, func(name string) bool {
			return t.Masked[name] || strings.HasSuffix(name, scenario.Note) || t.History[name] && startsLate(s.Scenario) || t.Allows(s.Scenario.Name+" "+name)
		})
		return len(all) == 0
	}, func() verdict.Finding { return differs(s, bound, all) })
}

// startsLate reports whether the program misses events in a scenario.
func startsLate(sc *stage.Scenario) bool {
	return strings.HasPrefix(sc.Name, "fresh-") || slices.Contains([]string{"down", "events-missed", "stale-start"}, sc.Name)
}

// differs returns a finding about the differences from the result without a fault.
func differs(s *stage.Stage, bound time.Duration, all []script.Difference) verdict.Finding {
	p, l := P6, verdict.Different
	var lines, allow []string
	for _, d := range all {
		lines, allow = append(lines, "  "+d.String()), append(allow, s.Scenario.Name+" "+d.Name)
		if d.IsObject() && d.Was == "" {
			p, l = P4, verdict.LeftOver
		} else if d.IsObject() && d.Is == "" && p == P6 {
			p, l = P1, verdict.Absent
		}
	}
	if l == verdict.Different && strings.HasPrefix(s.Scenario.Name, "fresh-") {
		l = verdict.Late
	}
	f := verdict.Found(p, l, time.Now(), "%s after %s these values differ from the run without faults:\n%s", bound, lastStep(s), strings.Join(lines[:min(len(lines), stage.MostLines)], "\n"))
	f.Allow = allow
	return f
}
