package court

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/klog/v2"

	"example.com/byhand/tools/judge/internal/court/anykind"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// failed is the exit status if no verdict is possible.
const failed = 101

type options struct {
	quick, list, caveats bool
	beside               int
	scenario, json       string
	script, learned      string
	args, flags          []string
}

// Main is the command judge.
func Main() {
	var o options
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "go run ./tools/judge [flags] -- COMMAND…        {kubeconfig} in COMMAND becomes the path of the kubeconfig")
		flag.PrintDefaults()
	}
	flag.BoolVar(&o.quick, "quick", false, "the shorter half of the scenarios: a minute instead of 4 to 15")
	flag.IntVar(&o.beside, "beside", 8, "how many scenarios run in parallel, if they do not disturb each other")
	flag.BoolVar(&o.list, "list", false, "print the scenarios and the properties that each judges")
	flag.StringVar(&o.scenario, "scenario", "", "`regexp`: only scenarios whose whole name matches, as in 'rename|killed-.*'")
	flag.BoolVar(&o.caveats, "caveats", false, "also run the scenarios for the limitations in controller/foo/doc.go")
	flag.StringVar(&o.json, "json", "", "write the verdict to this `file` as JSON")
	flag.StringVar(&o.script, "script", "", "judge a program about any kind, by the script in this `file`, which may have the command")
	flag.StringVar(&o.learned, "learned", "", "with -script: write the learned result to this `file`, to read and to commit")
	flag.Parse()
	o.args = flag.Args()
	flag.Visit(func(f *flag.Flag) {
		if f.Name != "json" {
			o.flags = append(o.flags, fmt.Sprintf("-%s=%s", f.Name, f.Value))
		}
	})

	// The log messages of the judge's informers are not for its user.
	klog.SetLogger(klog.New(nil)) // discards everything
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	Exit(do(ctx, o))
}

// Exit ends the process. The exit status is the number of scenarios that fall short, or failed for an error.
func Exit(short int, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(failed)
	}
	os.Exit(min(short, 100))
}

// do runs what the flags select, and returns how many scenarios fall short.
func do(ctx context.Context, o options) (short int, err error) {
	c := stage.Command{Args: o.args}
	var t *stage.Told
	if o.script != "" {
		if o.quick {
			return 0, errors.New("-quick does not work with -script: choose scenarios instead, as in -scenario 'restart|fresh-.*' (-list shows all)")
		}
		if t, err = anykind.ReadScript(o.script); err != nil {
			return 0, err
		}
		t.Learned = o.learned
		if t.Controller = strings.Join(o.args, " "); len(c.Args) == 0 {
			c.Args, c.Dir = t.Command, filepath.Dir(t.File)
			if len(c.Args) > 0 && strings.Contains(c.Args[0], "/") {
				if c.Args[0], err = filepath.Abs(t.Path(c.Args[0])); err != nil {
					return 0, err
				}
			}
		}
	}
	chosen, err := choose(scenariosOf(t), o)
	switch {
	case err != nil:
		return 0, err
	case o.list:
		for _, s := range chosen {
			fmt.Printf("%-22s %-24s %s\n", s.Name, s.Judged, s.What)
		}
		return 0, nil
	}
	if err := stage.CheckCommand(c.Args); err != nil {
		return 0, err
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return 0, err
	}
	return run(ctx, o, chosen, c, t)
}

// run judges the program and prints results as they arrive.
func run(ctx context.Context, o options, chosen []stage.Scenario, c stage.Command, t *stage.Told) (short int, err error) {
	j := &stage.Judge{Quick: o.quick, Bound: stage.UsualBound, Command: c, Beside: o.beside, Told: t}
	if j.Dir, err = os.MkdirTemp("", "byhand-judge-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(j.Dir)) }()

	fmt.Printf("judging: %s\nin %s, %d scenarios, judge %s\n", strings.Join(c.Args, " "), c.Dir, len(chosen), verdict.ThisJudge())
	if c.Args[0] == "go" {
		fmt.Println("go run links the program at each start: build a binary to make this faster")
	}
	v := verdict.Verdict{Command: c.Args, Judge: verdict.ThisJudge(), Flags: o.flags, Quick: o.quick, Began: time.Now()}
	report := func(r verdict.Result) { v.Add(os.Stdout, r, len(chosen)) }
	if t != nil {
		j.Bound = anykind.BoundOfScript
	}
	worlds := stage.Worlds{}
	defer func() { err = errors.Join(err, stage.Down(worlds)) }()
	err = judgeProgram(ctx, j, worlds, chosen, report)
	v.Seconds, v.Remarks = time.Since(v.Began).Round(time.Second).Seconds(), j.Remarks
	sorted(v.Results, chosen)
	if short = v.Print(os.Stdout); short > 0 {
		fmt.Printf("\nTo see its events and requests, and the cause of each write: make look CONTROLLER='%s'\n", strings.Join(c.Args, " "))
	}
	v.Sum(os.Stdout, short)
	if o.json != "" {
		err = errors.Join(err, v.Save(o.json))
	}
	return short, err
}

// scenariosOf returns the scenarios of a script, or the ones about Foos.
func scenariosOf(t *stage.Told) []stage.Scenario {
	if t != nil {
		return anykind.Scenarios(t)
	}
	return scenario.All
}

// choose returns the scenarios that the flags select.
func choose(all []stage.Scenario, o options) (chosen []stage.Scenario, err error) {
	wanted, err := regexp.Compile("^(" + o.scenario + ")$")
	if err != nil {
		return nil, fmt.Errorf("-scenario: %w", err)
	}
	for _, s := range all {
		named := o.scenario != "" && wanted.MatchString(s.Name)
		if (named || o.scenario == "" && (o.caveats || !s.Caveat)) && (!o.quick || s.Quick) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-scenario %q matches no scenario; -list shows all", o.scenario)
	}
	return withFaultFree(all, chosen), nil
}

// withFaultFree adds the run without faults, before the faults, if any fault is chosen. A script begins with it.
func withFaultFree(all, chosen []stage.Scenario) []stage.Scenario {
	bare := func(s stage.Scenario) bool { return s.Bare }
	is := func(s stage.Scenario) bool { return s.Name == scenario.FaultFree }
	first := position(all, scenario.FaultFree)
	if first > 0 && !slices.ContainsFunc(chosen, bare) || slices.ContainsFunc(chosen, is) {
		return chosen
	}
	return inOrder(append(chosen, all[first]), all)
}

// sorted sorts results in the order of the scenarios.
func sorted(results []verdict.Result, order []stage.Scenario) {
	slices.SortFunc(results, func(a, b verdict.Result) int {
		return cmp.Compare(position(order, a.Scenario), position(order, b.Scenario))
	})
}

// inOrder sorts scenarios in the order of all.
func inOrder(chosen, all []stage.Scenario) []stage.Scenario {
	slices.SortFunc(chosen, func(a, b stage.Scenario) int { return cmp.Compare(position(all, a.Name), position(all, b.Name)) })
	return chosen
}

// position returns the index of a scenario.
func position(all []stage.Scenario, name string) int {
	return slices.IndexFunc(all, func(s stage.Scenario) bool { return s.Name == name })
}
