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
	Told     *Told // nil: Foos
	Quick    bool
	Dir      string // for files
	// Bound is how long the program has to act, or ten times its time without faults if that is longer.
	Bound time.Duration

	// Heard: the program has sent a request.
	Heard atomic.Bool
	// Stays: it ignores a change of deploymentName. The faults do without it, so that this is reported once.
	Stays bool
	// lingers: it does not exit in the grace period, or leaves something behind.
	lingers atomic.Bool
	// How many scenarios may run in parallel; 0 is 1.
	Beside int

	// Once has the first failure of each repeated scenario, by the scenario's name.
	Once sync.Map

	mu      sync.Mutex
	Remarks []string
}

// Foos reports whether the program is about Foos, for which the judge has rules.
func (j *Judge) Foos() bool { return j.Told == nil }

// Remark records a remark about the program, once.
func (j *Judge) Remark(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Contains(j.Remarks, text) {
		j.Remarks = append(j.Remarks, text)
	}
}

// Scenario is one situation or one fault for the program.
type Scenario struct {
	Name string
	// The scenario in one sentence.
	What string
	// Judged are the checked properties.
	Judged verdict.Properties
	// Quick: it is part of -quick.
	Quick bool
	// Bare: it runs without a garbage collector, and the judge plays the controller of Deployments. Unplayed:
	// and there no Deployment ever gets a Pod.
	Bare, Unplayed bool
	// Calibrates: it sets the bound of the other scenarios, and runs before them.
	Calibrates bool
	// Caveat: it plays a limitation in controller/foo/doc.go. It runs only with -caveats, or when it
	// is named.
	Caveat bool
	// Alone: no other scenario runs in parallel. This one stops the API server, changes it for all, or
	// measures times that other work would extend.
	Alone bool
	// Real: the in-memory API server cannot play it.
	Real bool
	// PerWrite, if it is not Pass, is the fault for the n-th write, for each n in a separate run.
	PerWrite testkit.Fault
	Steps    []Step
}

// Step is one action or one wait of a scenario.
type Step func(s *Stage)
