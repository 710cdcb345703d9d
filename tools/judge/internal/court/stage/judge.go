package stage

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// Judge is one run of the judge.
type Judge struct {
	Command Command
	// Contract is the program, if it runs in memory.
	Contract Contract
	Kind     *Kind // nil: Foos, or told
	Told     *Told // nil: Foos, or kind
	Quick    bool
	Dir      string // for files
	// Bound is how long the program has for what it is asked to do, if it needs no more
	// than a tenth of that without faults.
	Bound time.Duration

	// Heard: the program has sent a request.
	Heard atomic.Bool
	// Stays: it does not follow a change of deploymentName. The faults do without, so that
	// this is not told again for each.
	Stays bool
	// lingers: it does not end in the grace period, or leaves something behind.
	lingers atomic.Bool
	// Beside is how many scenarios may run at the same time; 0 is 1.
	Beside int

	// locks are the ConfigMaps that elect a leader, by namespace and name.
	locks sync.Map

	// Once has, by scenario, what was seen when it fell short, if it is repeated.
	Once sync.Map

	mu      sync.Mutex
	Remarks []string
}

// Foos reports whether the program is about Foos: the judge knows what is right.
func (j *Judge) Foos() bool { return j.Kind == nil && j.Told == nil }

// Remark notes something about the program, once.
func (j *Judge) Remark(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Contains(j.Remarks, text) {
		j.Remarks = append(j.Remarks, text)
	}
}

// Scenario is one situation, or one fault, that the program is put through.
type Scenario struct {
	Name string
	// What happens, in one sentence.
	What string
	// Judged are the properties that it can violate here; the others are not looked at.
	Judged verdict.Properties
	// Quick: it is part of -quick.
	Quick bool
	// Bare: it runs where the judge plays the controller of Deployments, without a
	// garbage collector. unplayed: and where no Deployment ever gets a Pod.
	Bare, Unplayed bool
	// Calibrates: it sets the bound of the others, and runs before them.
	Calibrates bool
	// Caveat: it plays a limitation in controller/foo/doc.go. It runs only with -caveats, or when it
	// is named.
	Caveat bool
	// Alone: no other runs beside it, for it stops the API server, changes it for all, or
	// measures what other work would delay.
	Alone bool
	// Real: the API server in memory cannot play it.
	Real bool
	// PerWrite, if it is not Pass, happens to the n-th write, for each n, in a run of its own.
	PerWrite testkit.Fault
	Steps    []Step
}

// Step is one thing that a scenario does, or waits for.
type Step func(s *Stage)
