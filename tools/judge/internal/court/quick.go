package court

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"example.com/byhand/tools/judge/internal/court/anykind"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// left is the environment variable with the names of the scenarios to play.
const left = "BYHAND_SCENARIOS_LEFT"

// hangs is the real time after which a scenario is given up. A scenario usually takes a tenth of a second.
const hangs = time.Minute

// Play runs the scenarios that Quick selects, in memory and in virtual time, and ends the process. It writes
// a line to file descriptor 3 when a scenario begins and when it ends.
func Play(t *testing.T, program stage.Contract) {
	lines := json.NewEncoder(os.NewFile(3, "results"))
	klog.SetLogger(klog.New(nil)) // discards everything
	// One handler sleeps until a millisecond after the last error of the process, which may be in another
	// scenario's virtual time.
	utilruntime.ErrorHandlers = nil
	told, err := anykind.ReadKind(".")
	if err != nil {
		t.Fatal(err)
	}
	all := scenariosOf(told)
	j := &stage.Judge{Bound: stage.UsualBound, Contract: program, Told: told}
	w := &stage.World{Bare: true}
	w.Meet(j)
	for _, name := range strings.Split(os.Getenv(left), ",") {
		sc := all[position(all, name)]
		_ = lines.Encode(line{Begins: name})
		r, learned, err := verdict.Result{}, true, error(nil)
		play := func(_ context.Context, sc *stage.Scenario) (verdict.Result, error) {
			inBubble(t, func(t *testing.T) { r, err = resultOf(t.Context(), w, sc) })
			return r, err
		}
		if told != nil && sc.Calibrates {
			r, learned, err = anykind.Learn(t.Context(), told, play)
		} else {
			_, err = play(t.Context(), &sc)
		}
		if err != nil { // The program has never sent a request.
			_ = lines.Encode(line{Broken: err.Error()})
			os.Exit(failed)
		}
		hopeless := w.Hopeless == helpless || w.Stuck && sc.Calibrates || !learned
		_ = lines.Encode(line{Result: &r, Remarks: j.Remarks, Hopeless: hopeless})
		if w.Stuck || hopeless {
			os.Exit(0)
		}
	}
	os.Exit(0)
}

// inBubble is synctest.Test for a program that leaves goroutines behind; with a process they would end. It
// ignores goroutines that block forever.
func inBubble(t *testing.T, play func(t *testing.T)) {
	defer func() {
		if reason := recover(); reason != nil && !strings.Contains(fmt.Sprint(reason), "main bubble goroutine has exited") {
			panic(reason)
		}
	}()
	synctest.Test(t, play)
}

// line is a line of Play's output.
type line struct {
	Begins, Broken string
	Result         *verdict.Result
	Remarks        []string
	Hopeless       bool // the other scenarios would show nothing
}

// Quick judges the program in dir, in memory, and prints results to w as they arrive. command calls Play in
// another process, because a panic of the program ends the whole process.
func Quick(w io.Writer, dir, only string, command ...string) (short int, err error) {
	err = stage.Try(func() {
		chosen := stage.Must(choose(scenariosOf(stage.Must(anykind.ReadKind(dir))), options{scenario: only}))
		chosen = slices.DeleteFunc(chosen, func(sc stage.Scenario) bool { return sc.Real })
		fmt.Fprintf(w, "%d scenarios in memory, in virtual time.\nBuilt-in kinds get no defaults in memory: a comparison with them shows only on a real API server.\n%s\n", len(chosen), verdict.Header())
		v := verdict.Verdict{Began: time.Now()}
		for hopeless := false; len(v.Results) < len(chosen) && !hopeless; {
			hopeless = playOn(&v, w, chosen, dir, command)
		}
		if len(v.Results) < len(chosen) {
			v.Remarks = []string{"the other scenarios are not judged: " + helpless}
		}
		sorted(v.Results, chosen)
		short = v.Print(w)
		v.Sum(w, short)
	})
	return short, err
}

// playOn plays the remaining scenarios in a new process, until the process exits. It reports whether the
// others would show nothing.
func playOn(v *verdict.Verdict, w io.Writer, chosen []stage.Scenario, dir string, command []string) (hopeless bool) {
	var names []string
	for _, sc := range chosen {
		if sc.Calibrates || v.Result(sc.Name) == nil {
			names = append(names, sc.Name)
		}
	}
	reader, writer, err := os.Pipe()
	stage.Check(err)
	defer func() { _ = reader.Close() }()
	printed, playing := &stage.Tail{}, names[0]
	run := exec.Command(command[0], command[1:]...)
	run.Dir, run.Env = dir, append(os.Environ(), left+"="+strings.Join(names, ","))
	run.ExtraFiles, run.Stdout, run.Stderr = []*os.File{writer}, printed, printed
	err = run.Start()
	_ = writer.Close()
	stage.Check(err)
	watchdog := time.AfterFunc(hangs, func() { _ = run.Process.Kill() })
	for lines := json.NewDecoder(reader); ; watchdog.Reset(hangs) {
		var l line
		if lines.Decode(&l) != nil {
			break // It has ended.
		}
		if l.Broken != "" {
			stage.Check(errors.New(l.Broken))
		}
		if playing, hopeless = l.Begins, l.Hopeless; l.Result != nil && v.Result(l.Result.Scenario) == nil {
			v.Remarks = l.Remarks
			v.Add(w, *l.Result, len(chosen))
		}
	}
	why := "The program exited: it called os.Exit, or a panic ended it"
	if !watchdog.Stop() {
		why = fmt.Sprintf("The program was killed: it has not waited once for %s of real time", hangs)
	}
	_ = run.Wait()
	if playing != "" {
		sc := &chosen[slices.IndexFunc(chosen, func(sc stage.Scenario) bool { return sc.Name == playing })]
		f := verdict.Found(verdict.P7, verdict.Exits, time.Now(), "%s. Its last output:\n%s", why, printed.Lines(12))
		f.Lesson = f.Lesson.Given(f.Text, nil)
		s := &stage.Stage{Scenario: sc, Findings: []verdict.Finding{f}}
		v.Add(w, newResult(sc, s, "", 0), len(chosen))
		hopeless = sc.Calibrates
	}
	return hopeless
}
