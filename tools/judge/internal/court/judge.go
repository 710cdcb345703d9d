package court

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/kit/testkit"
)

// judge is one run of the judge.
type judge struct {
	command command
	// contract is the program, if it runs in memory.
	contract Contract
	kind     *kind // nil: Foos, or told
	told     *told // nil: Foos, or kind
	quick    bool
	dir      string // for files
	// bound is how long the program has for what it is asked to do, if it needs no more
	// than a tenth of that without faults.
	bound time.Duration

	// heard: the program has sent a request.
	heard atomic.Bool
	// stays: it does not follow a change of deploymentName. The faults do without, so that
	// this is not told again for each.
	stays bool
	// lingers: it does not end in the grace period, or leaves something behind.
	lingers atomic.Bool
	// beside is how many scenarios may run at the same time; 0 is 1.
	beside int

	// locks are the ConfigMaps that elect a leader, by namespace and name.
	locks sync.Map

	// once has, by scenario, what was seen when it fell short, if it is repeated.
	once sync.Map

	mu      sync.Mutex
	remarks []string
}

// foos reports whether the program is about Foos: the judge knows what is right.
func (j *judge) foos() bool { return j.kind == nil && j.told == nil }

// remark notes something about the program, once.
func (j *judge) remark(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Contains(j.remarks, text) {
		j.remarks = append(j.remarks, text)
	}
}

// run puts the program through the scenarios, on control planes that it starts for them if there are none yet. The caller
// calls down.
func (j *judge) run(ctx context.Context, worlds worlds, chosen []scenario, report func(result)) error {
	if err := j.up(ctx, worlds, chosen); err != nil {
		return err
	}
	if j.told == nil {
		fmt.Println(header())
	} else if learned, err := worlds[false].learnScript(ctx, report); err != nil || !learned {
		return err
	} else {
		chosen = chosen[1:]
	}
	return j.judgeAll(ctx, worlds, chosen, report)
}

// judgeAll puts the program through the scenarios: those that calibrate the others, then those
// that may run beside each other, then the rest. What has fallen short beside others, or while the
// machine was slow, is judged again alone, and that counts.
func (j *judge) judgeAll(ctx context.Context, worlds worlds, chosen []scenario, report func(result)) error {
	var first, beside, alone []scenario
	for _, sc := range chosen {
		switch {
		case sc.calibrates:
			first = append(first, sc)
		case sc.alone || j.beside < 2:
			alone = append(alone, sc)
		default:
			beside = append(beside, sc)
		}
	}
	if len(beside) == 1 {
		beside, alone = nil, append(alone, beside...)
	}
	if err := worlds.judgeEach(ctx, first, report); err != nil {
		return err
	}
	doubtful, err := worlds.judgeBeside(ctx, j.beside, beside, report)
	if err != nil {
		return err
	}
	return worlds.judgeEach(ctx, inOrder(append(alone, doubtful...)), report)
}

// judgeEach judges one scenario after the other.
func (w worlds) judgeEach(ctx context.Context, chosen []scenario, report func(result)) error {
	for _, sc := range chosen {
		r, err := w[sc.bare].result(ctx, &sc)
		if err == nil && r.short() && r.slow {
			w[sc.bare].forget(&sc, r)
			r, err = w[sc.bare].result(ctx, &sc)
		}
		if err != nil {
			return err
		}
		report(r)
	}
	return nil
}

// judgeBeside judges so many scenarios at the same time. It returns the doubtful ones.
func (w worlds) judgeBeside(ctx context.Context, atOnce int, chosen []scenario, report func(result)) (doubtful []scenario, err error) {
	var mu sync.Mutex
	workqueue.ParallelizeUntil(ctx, max(1, atOnce), len(chosen), func(i int) {
		sc := chosen[i]
		r, broken := w[sc.bare].result(ctx, &sc)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case broken != nil:
			err = cmp.Or(err, broken)
		case r.short() || r.NotJudged != "":
			w[sc.bare].forget(&sc, r)
			doubtful = append(doubtful, sc)
		default:
			report(r)
		}
	})
	return doubtful, cmp.Or(err, ctx.Err())
}

// result runs one scenario and says what came of it. It fails if nothing can be said about the program.
func (w *world) result(ctx context.Context, sc *scenario) (result, error) {
	begin, why := time.Now(), ""
	s, err := w.judged(ctx, sc)
	switch {
	case ctx.Err() != nil:
		return result{}, errors.New("interrupted")
	case err != nil && !w.judge.heard.Load():
		return result{}, err // Nothing works.
	case err != nil:
		why = err.Error()
	}
	r := newResult(sc, s, why, time.Since(begin))
	r.slow = len(w.canary.slow(begin)) > 0
	if seen, repeated := w.judge.once.Load(sc.name); repeated && !r.short() {
		w.judge.remark(fmt.Sprintf("%s fell short once, and not when it was repeated alone: %s", sc.name, seen))
	}
	return r, nil
}

// forget makes the world ready to repeat a scenario.
func (w *world) forget(sc *scenario, r result) {
	if r.short() {
		w.judge.once.Store(sc.name, firstLine(r.Violations[0].Seen))
	}
	if sc.calibrates {
		w.hopeless, w.judge.stays = "", false
	}
}

// helpless is why nothing more is judged.
const helpless = "even without a fault the program does not do what it is asked for"

// beyond says what the program does that no Foo asks for. It is told, and not judged.
func (s *stage) beyond() string {
	events, conditions := 0, []string(nil)
	for _, r := range s.proxy.Log() {
		if r.Target.Resource == "events" && r.Method != http.MethodGet {
			events++
		}
	}
	if f := s.history.foos["a"]; f != nil {
		for _, c := range f.Status.Conditions {
			conditions = append(conditions, c.Type)
		}
	}
	return fmt.Sprintf("for two new Foos it has sent %d Events; the conditions in their status: %s", events, cmp.Or(strings.Join(conditions, ", "), "none"))
}

// judged runs one scenario.
func (w *world) judged(ctx context.Context, sc *scenario) (*stage, error) {
	switch {
	case w.hopeless != "":
		return nil, notJudged(w.hopeless)
	case sc.perWrite != testkit.Pass:
		return w.judgedEach(ctx, sc)
	}
	s, err := w.perform(ctx, sc, sc.steps...)
	switch {
	case err != nil && sc.calibrates:
		w.hopeless = "the run without faults could not be judged"
		return s, err
	case err != nil:
		return s, err
	case sc.name == "create" && slices.ContainsFunc(s.findings, func(f finding) bool { return f.property&P1 != 0 }):
		w.hopeless = helpless
	case sc.name == "create" && w.judge.kind == nil:
		w.judge.remark(s.beyond())
	case sc.name == faultFree && w.baseline == "":
		// It may be the rename.
		w.judge.stays = true
		if _, err := w.perform(ctx, sc, sc.steps...); err != nil || w.baseline == "" {
			w.hopeless = helpless
		}
	}
	return s, nil
}

// judgedEach runs the script once for each of its writes, and stops when the program falls
// short.
func (w *world) judgedEach(ctx context.Context, sc *scenario) (s *stage, err error) {
	most := 12
	if w.judge.quick {
		most = 3
	}
	for n := 1; n <= min(w.writes, most); n++ {
		steps := []step{createAndChange, sameEnd}
		if w.judge.kind != nil {
			steps = []step{added, kept(P6, different, true), changedByUser, kept(P6, different, false)}
		}
		if s, err = w.perform(ctx, sc, append([]step{atWrite(n, sc.perWrite)}, steps...)...); err != nil {
			return s, err
		}
		if len(s.findings) > 0 {
			s.remarks = append(s.remarks, fmt.Sprintf("at write %d of %d", n, w.writes))
			return s, nil
		}
	}
	if s == nil {
		return nil, notJudged("the script takes no write")
	}
	s.remarks = append(s.remarks, fmt.Sprintf("%d of %d writes", min(w.writes, most), w.writes))
	return s, nil
}
