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
	// showEvery is how often the page gets the state of the server, and settle by how much later. An
	// observer publishes its steps after some 40 ms, and the page needs both in order.
	showEvery = 200 * time.Millisecond
	settle    = 80 * time.Millisecond
	// restartAfter is when a process that exited by itself is restarted.
	restartAfter = 3 * time.Second
	// mostSteps is how many steps one message has.
	mostSteps = 500
)

// Playground is a cluster with a visitor. Its methods are safe for concurrent use.
type Playground struct {
	ctx  context.Context
	api  *testkit.APIServer
	user rest.Interface // the visitor's client, unaffected by faults
	tell Tell

	writing    sync.Mutex   // held while a write is executed and recorded
	era        atomic.Int32 // changes when every process is replaced
	interfered atomic.Bool  // whether another client has written before the last PUT

	mu        sync.Mutex
	on        map[string]bool // the switches
	release   func()          // releases the held watches
	replicas  []*replica      // alive
	shown     *replica        // the leader, whose steps the page gets
	heldSince int             // version at which the watches were held
	started   int
	bug       string
}

// Tell receives the messages for the page. body becomes JSON:
//
//	hello  Hello   a new process leads
//	news   News    its next steps
//	gone   nil     it has ended
//	state  State   the current state, after each change
//	said   Said    the result of a command
//	write  *trace.Step  a write while no process leads; else it is among the steps
type Tell func(kind string, body any)

// Hello precedes the steps of a new leader.
type Hello struct {
	Process string `json:"process"`
	Played  bool   `json:"played"` // in a tab, with no cluster to reach
}

// News are the next steps of the leader.
type News struct {
	Steps []*trace.Step `json:"steps"`
}

// State is the current state: kubectl's tables, the switches, and the processes.
type State struct {
	At          int64           `json:"at"` // in milliseconds since 1970
	Foos        [][]string      `json:"foos"`
	Deployments [][]string      `json:"deployments"`
	On          map[string]bool `json:"on"`
	Replicas    []string        `json:"replicas"` // each with its role
	// Held is how many changes of Deployments the held watches have not delivered; Store has the
	// replicas of each Deployment in the controller's store meanwhile.
	Held  int               `json:"held"`
	Store map[string]string `json:"store"`
	// Lease is when the Lease of an ended process expires, in milliseconds since 1970, 0 while a
	// process leads.
	Lease int64  `json:"lease"`
	Bug   string `json:"bug"`
}

// Said is the result of a visitor's command, or, without a command, the exit of a process.
type Said struct {
	Command string `json:"command"`
	Kubectl string `json:"kubectl"` // the same as a user would type it
	Answer  string `json:"answer"`
	Refused bool   `json:"refused"`
}

// New starts a cluster with one replica of the program, which runs until ctx is done. tell is called
// from several goroutines, and must not block.
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

// follow passes on the steps of a replica that has become leader, until another replica leads.
func (p *Playground) follow(r *replica) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.alive.Err() != nil {
		return // It was killed while it got the Lease.
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

// bury stops a replica, if it has not ended, and removes it.
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

// running returns the live replicas, oldest first.
func (p *Playground) running() []*replica {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.replicas)
}

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

func (p *Playground) isOn(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.on[name]
}
