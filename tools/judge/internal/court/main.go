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
)

// failed is the exit status when nothing can be said about the program.
const failed = 101

// options are the flags.
type options struct {
	quick, list, caveats bool
	beside               int
	scenario, json       string
	script               string
	args, flags          []string
}

// Main is the command judge.
func Main() {
	var o options
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "go run ./tools/judge [flags] -- COMMAND…        {kubeconfig} in COMMAND becomes the path of the file")
		flag.PrintDefaults()
	}
	flag.BoolVar(&o.quick, "quick", false, "the shorter half of the scenarios: a minute in place of 4 to 15")
	flag.IntVar(&o.beside, "beside", 8, "how many scenarios run at the same time, where they do not disturb each other")
	flag.BoolVar(&o.list, "list", false, "print the scenarios and the properties that each judges")
	flag.StringVar(&o.scenario, "scenario", "", "`regexp`: only scenarios whose whole name matches, as in 'rename|killed-.*'")
	flag.BoolVar(&o.caveats, "caveats", false, "also the scenarios that play the limitations in controller/foo/doc.go")
	flag.StringVar(&o.json, "json", "", "write the verdict to this `file` as JSON")
	flag.StringVar(&o.script, "script", "", "judge a program about any kind, by the script in this `file`; its command may stand there")
	flag.Parse()
	o.args = flag.Args()
	flag.Visit(func(f *flag.Flag) {
		if f.Name != "json" {
			o.flags = append(o.flags, fmt.Sprintf("-%s=%s", f.Name, f.Value))
		}
	})

	// The informers of the judge have nothing to say to its user.
	klog.SetLogger(klog.New(nil)) // discards everything
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	Exit(do(ctx, o))
}

// Exit ends the process with the number of scenarios that fall short.
func Exit(short int, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(failed)
	}
	os.Exit(min(short, 100))
}

// do does what the flags ask for, and returns how many scenarios fall short.
func do(ctx context.Context, o options) (short int, err error) {
	c := command{args: o.args}
	var t *told
	if o.script != "" {
		if o.quick {
			return 0, errors.New("a script has no shorter half: in place of -quick choose, as in -scenario 'restart|fresh-.*' (-list shows all)")
		}
		if t, err = readScript(o.script); err != nil {
			return 0, err
		}
		scenarios = append([]scenario{{name: faultFree, what: "The script without a fault."}}, t.scenarios()...)
		if t.controller = strings.Join(o.args, " "); len(c.args) == 0 {
			c.args, c.dir = t.Command, filepath.Dir(t.File)
			if len(c.args) > 0 && strings.Contains(c.args[0], "/") {
				if c.args[0], err = filepath.Abs(t.Path(c.args[0])); err != nil {
					return 0, err
				}
			}
		}
	}
	chosen, err := choose(o)
	switch {
	case err != nil:
		return 0, err
	case o.list:
		for _, s := range chosen {
			fmt.Printf("%-22s %-24s %s\n", s.name, s.judged, s.what)
		}
		return 0, nil
	}
	if t != nil { // All others are compared with it.
		chosen = append(scenarios[:1:1], slices.DeleteFunc(chosen, func(s scenario) bool { return s.name == faultFree })...)
	}
	if err := checkCommand(c.args); err != nil {
		return 0, err
	}
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return 0, err
	}
	return run(ctx, o, chosen, c, t)
}

// run judges, and prints as it goes.
func run(ctx context.Context, o options, chosen []scenario, c command, t *told) (short int, err error) {
	j := &judge{quick: o.quick, bound: usualBound, command: c, beside: o.beside, told: t}
	if j.dir, err = os.MkdirTemp("", "byhand-judge-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(j.dir)) }()

	fmt.Printf("judging: %s\nin %s, %d scenarios, judge of commit %s\n", strings.Join(c.args, " "), c.dir, len(chosen), thisJudge())
	if c.args[0] == "go" {
		fmt.Println("go run links the program at each start; a built binary is judged faster")
	}
	v := verdict{Command: c.args, Judge: thisJudge(), Flags: o.flags, Quick: o.quick, Began: time.Now()}
	report := func(r result) { v.add(os.Stdout, r, len(chosen)) }
	if t != nil {
		j.bound = boundOfScript
	}
	worlds := worlds{}
	defer func() { err = errors.Join(err, down(worlds)) }()
	err = j.run(ctx, worlds, chosen, report)
	v.Seconds, v.Remarks = time.Since(v.Began).Round(time.Second).Seconds(), j.remarks
	if short = v.print(os.Stdout); short > 0 {
		fmt.Printf("\nTo see what the program hears, what it sends, and because of what: make look CONTROLLER='%s'\n", strings.Join(c.args, " "))
	}
	v.sum(os.Stdout, short)
	if o.json != "" {
		err = errors.Join(err, v.save(o.json))
	}
	return short, err
}

// choose returns the scenarios that the flags ask for.
func choose(o options) (chosen []scenario, err error) {
	wanted, err := regexp.Compile("^(" + o.scenario + ")$")
	if err != nil {
		return nil, fmt.Errorf("-scenario: %w", err)
	}
	for _, s := range scenarios {
		named := o.scenario != "" && wanted.MatchString(s.name)
		if (named || o.scenario == "" && (o.caveats || !s.caveat)) && (!o.quick || s.quick) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-scenario %q matches none; -list shows them", o.scenario)
	}
	return withFaultFree(chosen), nil
}

// withFaultFree puts the run without faults before the faults, if there are any.
func withFaultFree(chosen []scenario) []scenario {
	bare := func(s scenario) bool { return s.bare }
	is := func(s scenario) bool { return s.name == faultFree }
	if !slices.ContainsFunc(chosen, bare) || slices.ContainsFunc(chosen, is) {
		return chosen
	}
	return inOrder(append(chosen, scenarios[position(faultFree)]))
}

// inOrder sorts scenarios as they are told.
func inOrder(chosen []scenario) []scenario {
	slices.SortFunc(chosen, func(a, b scenario) int { return cmp.Compare(position(a.name), position(b.name)) })
	return chosen
}

// position is where a scenario is told.
func position(name string) int {
	return slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
}
