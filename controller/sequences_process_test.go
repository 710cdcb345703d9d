package controller_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// process is one run of the program: a reconciler, its queue, and the stores that
// it reads.
type process struct {
	s                 *sequence
	id                int
	foos, deployments *feed
	queue             *queue
	reconciler        *controller.FooReconciler
}

// newProcess returns one whose stores are still empty.
func (s *sequence) newProcess() *process {
	s.processes++
	p := &process{s: s, id: s.processes, queue: &queue{waiting: keySet{}, later: keySet{}, busy: keySet{}}}
	p.foos = &feed{s: s, resource: "foos", store: newOrderedIndexer(informer.FooIndexers())}
	p.deployments = &feed{s: s, resource: "deployments", store: newOrderedIndexer(informer.DeploymentIndexers())}
	p.foos.decode = func(c *change) any { return typed[v1alpha1.Foo](s, c.object) }
	p.deployments.decode = func(c *change) any { return typed[appsv1.Deployment](s, c.object) }
	p.foos.handler = controller.EnqueueFoos(p.queue)
	p.deployments.handler = controller.EnqueueFoosOfDeployment(p.queue, p.foos.store)
	config := s.api.config()
	config.Transport = p
	p.reconciler = &controller.FooReconciler{
		Foos:            clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1(),
		Deployments:     appsv1client.NewForConfigOrDie(config),
		FooStore:        p.foos.store,
		DeploymentStore: p.deployments.store,
		Events:          &record.FakeRecorder{},
	}
	return p
}

// keySet is a set of keys.
type keySet map[cache.ObjectName]bool

// sorted returns the keys in an order that does not vary.
func (k keySet) sorted() []cache.ObjectName {
	var keys []cache.ObjectName
	for key := range k {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b cache.ObjectName) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

// queue has the properties of controller.Queue without its goroutines: a key is in
// it once, and one that is added while a worker has it comes back. Time is a step
// of the sequence.
type queue struct {
	controller.Queue        // nil: what is not implemented here is not called
	waiting          keySet // for a worker
	later            keySet // for its time
	busy             keySet // at a worker
}

func (q *queue) Add(key cache.ObjectName)                       { q.waiting[key] = true }
func (q *queue) AddAfter(key cache.ObjectName, _ time.Duration) { q.later[key] = true }
func (q *queue) AddRateLimited(key cache.ObjectName)            { q.later[key] = true }
func (q *queue) Done(key cache.ObjectName)                      { delete(q.busy, key) }

// startable returns the keys that a free worker may take.
func (q *queue) startable() []cache.ObjectName {
	return slices.DeleteFunc(q.waiting.sorted(), func(key cache.ObjectName) bool { return q.busy[key] })
}

// timerFires makes a key wait that was to be looked at later. Stores lag by
// seconds, not by minutes: only when nothing is on its way to them, much time
// passes.
func (s *sequence) timerFires() bool {
	keys := s.process.queue.later.sorted()
	if len(keys) == 0 {
		return false
	}
	key := pick(s, keys)
	delete(s.process.queue.later, key)
	s.process.queue.Add(key)
	if !s.process.foos.behind() && !s.process.deployments.behind() {
		s.process.reconciler.LetTimePass(11 * time.Second)
	}
	s.note("timer", "%s", key)
	return true
}

// worker is one reconcile under way. Its code runs until it sends a request; then
// it stands still, and anything else may happen before it goes on.
type worker struct {
	process *process
	key     cache.ObjectName
	next    func() (struct{}, bool)
	stop    func() // kills it: no request of it reaches the server any more
	pause   func() bool
	killed  bool
	failed  bool   // a request of it was refused, or its answer lost
	sending string // the path of the request that is on its way
	again   time.Duration
	err     error
	seen    seen
}

func (w *worker) String() string {
	return fmt.Sprintf("process %d", w.process.id)
}

// workerStarts gives a key to a free worker.
func (s *sequence) workerStarts() bool {
	p := s.process
	keys := p.queue.startable()
	if len(keys) == 0 || len(p.queue.busy) >= 3 {
		return false
	}
	w := &worker{process: p, key: pick(s, keys)}
	delete(p.queue.waiting, w.key)
	p.queue.busy[w.key] = true
	w.seen = s.sees(w)
	w.next, w.stop = iter.Pull(func(yield func(struct{}) bool) {
		w.pause = func() bool { return yield(struct{}{}) }
		w.again, w.err = p.reconciler.Reconcile(context.Background(), w.key)
	})
	s.workers = append(s.workers, w)
	s.note(w.String(), "%s: reconcile begins", w.key)
	s.goOn(w)
	return true
}

// workerGoesOn lets one reconcile run to its next request, or to its end.
func (s *sequence) workerGoesOn() bool {
	if len(s.workers) == 0 {
		return false
	}
	s.goOn(pick(s, s.workers))
	return true
}

func (s *sequence) goOn(w *worker) {
	s.acting = w
	_, more := w.next()
	s.acting = nil
	if more {
		return
	}
	s.workers = slices.DeleteFunc(s.workers, func(other *worker) bool { return other == w })
	outcome := "done"
	switch {
	case w.err != nil && !w.failed:
		s.breaks("%s: an error, and no request has failed: %v", w.key, w.err)
	case w.err != nil:
		outcome = "error: " + w.err.Error()
		w.process.queue.AddRateLimited(w.key)
	case w.again > 0:
		outcome = "again after " + w.again.String()
		w.process.queue.AddAfter(w.key, w.again)
	}
	w.process.queue.Done(w.key)
	s.note(w.String(), "%s: %s", w.key, outcome)
}

var (
	errKilled = errors.New("the process has ended")
	errLost   = errors.New("the connection broke, the answer is lost")
)

// RoundTrip sends the request of the worker whose code runs. While the request is
// on its way to the server, and the answer on its way back, others may act.
func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	s, w := p.s, p.s.acting
	w.sending = strings.TrimSuffix(r.URL.Path, "/status")
	if !s.passes(w, 75) {
		return nil, errKilled
	}
	refused, lost := s.fault(r)
	w.failed = w.failed || refused != nil || lost
	if refused != nil {
		s.note(w.String(), "%s: %s %s → %d %s, made up", w.key, r.Method, r.URL.Path, refused.ErrStatus.Code, refused.ErrStatus.Reason)
		return respond(r, int(refused.ErrStatus.Code), refused.ErrStatus), nil
	}
	response, _ := s.api.RoundTrip(r)
	x := s.rules.last
	if !s.passes(w, 30) {
		return nil, errKilled
	}
	if lost {
		s.note(w.String(), "%s: the answer is lost", w.key)
		return nil, errLost
	}
	s.delivered(w, x)
	return response, nil
}

// passes lets others act with that chance, and returns false if the process has
// been killed.
func (s *sequence) passes(w *worker, percent int) bool {
	if !w.killed && s.chance(percent) {
		w.killed = !w.pause()
	}
	return !w.killed
}

// fault decides what goes wrong with a request: it is refused without a reason, or
// it is carried out and nobody learns of it.
func (s *sequence) fault(r *http.Request) (refused *apierrors.StatusError, lost bool) {
	if !s.faults || s.resting || !s.chance(20) {
		return nil, false
	}
	resource := v1alpha1.Resource("made-up")
	switch s.rand.IntN(7) {
	case 0:
		return apierrors.NewInternalError(errors.New("made up")), false
	case 1:
		return apierrors.NewTooManyRequestsError("made up"), false
	case 2:
		return apierrors.NewTimeoutError("made up", 0), false
	case 3:
		return apierrors.NewForbidden(resource, "", errors.New("made up")), false
	case 4:
		if r.Method == http.MethodGet {
			return nil, true
		}
		return apierrors.NewConflict(resource, "", errors.New("made up")), false
	default:
		return nil, true
	}
}

// takeOver replaces the process. The new one knows nothing of what the old one
// wrote, and its stores show some earlier moments. What the old one had under way
// ends with it, or it was only frozen and goes on.
func (s *sequence) takeOver() bool {
	if !s.takeovers {
		return false
	}
	if s.chance(70) {
		for _, w := range s.workers {
			w.stop()
		}
		s.workers = nil
	}
	s.replaceProcess(s.earlier(), s.earlier())
	return true
}

func (s *sequence) replaceProcess(foos, deployments int) {
	s.process = s.newProcess()
	s.note("takeover", "process %d begins", s.process.id)
	s.process.foos.relist(foos)
	s.process.deployments.relist(deployments)
}

// earlier returns a position in the server's changes, often the newest.
func (s *sequence) earlier() int {
	newest := len(s.api.changes)
	switch s.rand.IntN(3) {
	case 0:
		return newest
	case 1:
		return max(0, newest-s.rand.IntN(8))
	default:
		return s.rand.IntN(newest + 1)
	}
}
