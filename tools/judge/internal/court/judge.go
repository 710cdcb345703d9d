package court

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/anykind"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// judgeProgram runs the scenarios and reports each result. It starts the missing control planes in worlds;
// the caller stops them with stage.Down.
func judgeProgram(ctx context.Context, j *stage.Judge, worlds stage.Worlds, chosen []stage.Scenario, report func(verdict.Result)) error {
	if err := j.Up(ctx, worlds, chosen); err != nil {
		return err
	}
	if j.Told == nil {
		fmt.Println(verdict.Header())
	} else if learned, err := anykind.LearnScript(ctx, worlds[false], func(ctx context.Context, sc *stage.Scenario) (verdict.Result, error) {
		return resultOf(ctx, worlds[false], sc)
	}, report); err != nil || !learned {
		return err
	} else {
		chosen = chosen[1:]
	}
	return judgeAll(ctx, j, worlds, chosen, report)
}

// judgeAll runs the calibrating scenarios first, then the parallel ones, then the rest. A scenario that falls
// short in parallel, or on a slow machine, is repeated alone. The repetition counts.
func judgeAll(ctx context.Context, j *stage.Judge, worlds stage.Worlds, chosen []stage.Scenario, report func(verdict.Result)) error {
	var first, beside, alone []stage.Scenario
	for _, sc := range chosen {
		switch {
		case sc.Calibrates:
			first = append(first, sc)
		case sc.Alone || j.Beside < 2:
			alone = append(alone, sc)
		default:
			beside = append(beside, sc)
		}
	}
	if len(beside) == 1 {
		beside, alone = nil, append(alone, beside...)
	}
	if err := judgeEach(ctx, worlds, first, report); err != nil {
		return err
	}
	doubtful, err := judgeBeside(ctx, worlds, j.Beside, beside, report)
	if err != nil {
		return err
	}
	return judgeEach(ctx, worlds, inOrder(append(alone, doubtful...), chosen), report)
}

// judgeEach runs scenarios one after the other. It repeats one that falls short on a slow machine.
func judgeEach(ctx context.Context, w stage.Worlds, chosen []stage.Scenario, report func(verdict.Result)) error {
	for _, sc := range chosen {
		r, err := resultOf(ctx, w[sc.Bare], &sc)
		if err == nil && r.Short() && r.Slow {
			forget(w[sc.Bare], &sc, r)
			r, err = resultOf(ctx, w[sc.Bare], &sc)
		}
		if err != nil {
			return err
		}
		report(r)
	}
	return nil
}

// judgeBeside runs up to atOnce scenarios in parallel. It returns the doubtful ones without reporting them.
func judgeBeside(ctx context.Context, w stage.Worlds, atOnce int, chosen []stage.Scenario, report func(verdict.Result)) (doubtful []stage.Scenario, err error) {
	var mu sync.Mutex
	workqueue.ParallelizeUntil(ctx, max(1, atOnce), len(chosen), func(i int) {
		sc := chosen[i]
		r, broken := resultOf(ctx, w[sc.Bare], &sc)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case broken != nil:
			err = cmp.Or(err, broken)
		case r.Short() || r.NotJudged != "":
			forget(w[sc.Bare], &sc, r)
			doubtful = append(doubtful, sc)
		default:
			report(r)
		}
	})
	return doubtful, cmp.Or(err, ctx.Err())
}

// newResult returns the result of a scenario from its stage, which may be nil.
func newResult(sc *stage.Scenario, s *stage.Stage, notJudged string, took time.Duration) verdict.Result {
	r := verdict.Result{Scenario: sc.Name, What: sc.What, NotJudged: notJudged, Seconds: took.Round(100 * time.Millisecond).Seconds()}
	if s == nil {
		s = &stage.Stage{}
	}
	r.Remarks = s.Remarks
	r.Judge(sc.Judged, s.Findings)
	return r
}

// resultOf runs one scenario and returns its result. It fails if no verdict on the program is possible.
func resultOf(ctx context.Context, w *stage.World, sc *stage.Scenario) (verdict.Result, error) {
	begin, why := time.Now(), ""
	s, err := play(ctx, w, sc)
	switch {
	case ctx.Err() != nil:
		return verdict.Result{}, errors.New("interrupted")
	case err != nil && !w.Judge.Heard.Load():
		return verdict.Result{}, err // The program has never sent a request.
	case err != nil:
		why = err.Error()
	}
	r := newResult(sc, s, why, time.Since(begin))
	r.Slow = len(w.Canary.Slow(begin)) > 0
	if seen, repeated := w.Judge.Once.Load(sc.Name); repeated && !r.Short() {
		remark := fmt.Sprintf("%s failed in parallel, then passed alone. The failure does not count: %s", sc.Name, seen)
		if strings.Contains(remark, "address already in use") {
			remark = "Two copies of the program use the same port, so some scenarios ran twice: use a free port (0), or JUDGE='-beside 1'"
		}
		w.Judge.Remark(remark)
	}
	return r, nil
}

// forget prepares the world to repeat a scenario.
func forget(w *stage.World, sc *stage.Scenario, r verdict.Result) {
	if r.Short() {
		w.Judge.Once.Store(sc.Name, verdict.Brief(r.Violations[0].Seen))
	}
	if sc.Calibrates {
		w.Hopeless, w.Judge.Stays = "", false
	}
}

// helpless is the reason to judge nothing more.
const helpless = "even without faults the program does not reach the required state"

func play(ctx context.Context, w *stage.World, sc *stage.Scenario) (*stage.Stage, error) {
	switch {
	case w.Hopeless != "":
		return nil, stage.NotJudged(w.Hopeless)
	case sc.PerWrite != testkit.Pass:
		return playEach(ctx, w, sc)
	}
	s, err := w.Perform(ctx, sc, sc.Steps...)
	switch {
	case err != nil && sc.Calibrates:
		w.Hopeless = "the run without faults could not be judged"
		return s, err
	case err != nil:
		return s, err
	case sc.Name == "create" && slices.ContainsFunc(s.Findings, func(f verdict.Finding) bool { return f.Property&verdict.P1 != 0 }):
		w.Hopeless = helpless
	case sc.Name == scenario.FaultFree && w.Baseline == "":
		// The rename may be the cause: try again without it.
		w.Judge.Stays = true
		if _, err := w.Perform(ctx, sc, sc.Steps...); err != nil || w.Baseline == "" {
			w.Hopeless = helpless
		}
	}
	return s, nil
}

// playEach runs the script once for each of its first writes. It stops when the program falls short.
func playEach(ctx context.Context, w *stage.World, sc *stage.Scenario) (s *stage.Stage, err error) {
	most := 12
	if w.Judge.Quick {
		most = 3
	}
	for n := 1; n <= min(w.Writes, most); n++ {
		if s, err = w.Perform(ctx, sc, scenario.AtWrite(n, sc.PerWrite), scenario.CreateAndChange, scenario.SameEnd); err != nil {
			return s, err
		}
		if len(s.Findings) > 0 {
			s.Remarks = append(s.Remarks, fmt.Sprintf("at write %d of %d", n, w.Writes))
			return s, nil
		}
	}
	if s == nil {
		return nil, stage.NotJudged("the program sends no write")
	}
	s.Remarks = append(s.Remarks, fmt.Sprintf("%d of %d writes", min(w.Writes, most), w.Writes))
	return s, nil
}
