package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/testkit"
)

const (
	// showEvery is how often the page is told what the server has stored, and settle how much later:
	// an observer publishes its steps after some 40 ms, and the page takes both in their order.
	showEvery = 200 * time.Millisecond
	settle    = 80 * time.Millisecond
	// restartAfter is when a process that has ended by itself is started again.
	restartAfter = 3 * time.Second
	// mostSteps is how many steps are told at once.
	mostSteps = 500
)

// Playground is a cluster with a visitor. Its methods are safe for concurrent use.
type Playground struct {
	ctx  context.Context
	api  *testkit.APIServer
	user rest.Interface // the visitor's client, which meets no bad luck
	tell Tell

	writing    sync.Mutex   // held while a write is carried out and told
	era        atomic.Int32 // ends when every process is replaced
	interfered atomic.Bool  // whether another client has written before the last PUT

	mu        sync.Mutex
	on        map[string]bool // the switches
	release   func()          // lets the watches go that are held
	replicas  []*replica      // that are alive
	shown     *replica        // the one that leads: its steps are told
	heldSince int             // the version since which a watch is held
	started   int
	bug       string
}

// Tell hears what the page is to show. body becomes JSON:
//
//	hello  Hello   another process leads
//	news   News    its next steps
//	gone   nil     it has ended
//	state  State   what is so now, whenever that has changed
//	said   Said    what came of a command
//	write  *trace.Step  a write while no process leads; else it is among the steps
type Tell func(kind string, body any)

// Hello begins the steps of the process that leads now.
type Hello struct {
	Process string `json:"process"`
	Played  bool   `json:"played"` // in a tab, with no cluster to reach
}

// News are the next steps of a process.
type News struct {
	Steps []*trace.Step `json:"steps"`
}

// State is what is so now: kubectl's tables, the switches, and the processes.
type State struct {
	At          int64           `json:"at"` // in milliseconds since 1970
	Foos        [][]string      `json:"foos"`
	Deployments [][]string      `json:"deployments"`
	On          map[string]bool `json:"on"`
	Replicas    []string        `json:"replicas"` // each with what it does
	// Held is how many changes of Deployments a held watch has not delivered, Store what the
	// controller's store has of each Deployment then.
	Held  int               `json:"held"`
	Store map[string]string `json:"store"`
	// Lease is when the Lease of a process that has ended expires, in milliseconds since 1970,
	// 0 if one leads.
	Lease int64  `json:"lease"`
	Bug   string `json:"bug"`
}

// Said is a command of the visitor and what came of it, or what came by itself.
type Said struct {
	Command string `json:"command"`
	Kubectl string `json:"kubectl"` // the same as a user types it
	Answer  string `json:"answer"`
	Refused bool   `json:"refused"`
}

// New starts a cluster with one replica of the program, which runs until ctx is done. tell hears
// everything, from several goroutines, and must not wait.
func New(ctx context.Context, tell Tell) *Playground {
	p := &Playground{ctx: ctx, api: newAPIServer(), tell: tell, on: map[string]bool{}, bug: noBug}
	p.api.Next = p.noteWrites(p.api.Next)
	p.user = kubernetes.NewForConfigOrDie(configFor(visitor, p.api.Next)).CoreV1().RESTClient()
	p.api.Intercept(p.badLuck)
	p.others(ctx)
	p.start()
	go p.show(ctx)
	return p
}

// start starts one more replica.
func (p *Playground) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started++
	r := &replica{name: fmt.Sprint("controller-", p.started), bug: p.bug, server: p.api, observe: observer.New(observer.Options{All: true})}
	r.alive, r.exit = context.WithCancelCause(p.ctx)
	r.onLead = func() { p.follow(r) }
	p.replicas = append(p.replicas, r)
	era := p.era.Load()
	go func() {
		err := r.run()
		if cause := context.Cause(r.alive); cause != nil {
			err = cause
		}
		p.bury(r)
		if errors.Is(err, errKilled) || p.ctx.Err() != nil {
			return
		}
		p.tell("said", Said{Answer: fmt.Sprintf("%s: %v; a new process starts in its place.", r.name, err), Refused: true})
		time.AfterFunc(restartAfter, func() {
			if p.era.Load() == era {
				p.start()
			}
		})
	}()
}

// follow tells the steps of a replica that has begun to lead, until another one leads.
func (p *Playground) follow(r *replica) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.alive.Err() != nil {
		return // It was killed as it got the Lease.
	}
	p.shown = r
	p.tell("hello", Hello{Process: r.name, Played: true})
	go func() {
		last := int64(0)
		for steps := r.observe.Read(p.ctx, last); len(steps) > 0; steps = r.observe.Read(p.ctx, last) {
			steps = steps[:min(len(steps), mostSteps)]
			last = steps[len(steps)-1].Seq
			p.mu.Lock()
			if p.shown == r {
				p.tell("news", News{steps})
			}
			p.mu.Unlock()
		}
	}()
}

// bury takes a replica out that has ended or is to end.
func (p *Playground) bury(r *replica) {
	r.exit(errKilled)
	r.observe.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replicas = slices.DeleteFunc(p.replicas, func(other *replica) bool { return other == r })
	if p.shown == r {
		p.shown = nil
		p.tell("gone", nil)
	}
}

// running are the replicas that are alive, the oldest first.
func (p *Playground) running() []*replica {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.replicas)
}

// show tells the state whenever it has changed.
func (p *Playground) show(ctx context.Context) {
	before := ""
	for tick := time.NewTicker(showEvery); ctx.Err() == nil; <-tick.C {
		at, state := time.Now().UnixMilli(), p.State()
		time.Sleep(settle)
		if text, err := json.Marshal(state); err == nil && string(text) != before {
			before = string(text)
			state.At = at
			p.tell("state", state)
		}
	}
}

// isOn reports whether a switch is on.
func (p *Playground) isOn(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.on[name]
}
