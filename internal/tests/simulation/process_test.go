package simulation

import (
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/kit/testkit"
)

// process is one run of the program: a reconciler, its queue, and the stores that
// it reads.
type process struct {
	s                 *sequence
	id                int
	foos, deployments *feed
	queue             *queue
	reconciler        *foo.Reconciler
}

// newProcess returns one whose stores are still empty.
func (s *sequence) newProcess() *process {
	s.processes++
	p := &process{s: s, id: s.processes}
	p.queue = &queue{limiter: controller.RateLimiter(), waiting: keySet{}, due: map[cache.ObjectName]time.Time{}, busy: keySet{}, backOff: map[cache.ObjectName]time.Time{}}
	p.foos = &feed{s: s, resource: "foos", store: newOrderedIndexer(informer.FooIndexers())}
	p.deployments = &feed{s: s, resource: "deployments", store: newOrderedIndexer(informer.DeploymentIndexers())}
	p.foos.decode = func(c testkit.Change) any { return typed[v1alpha1.Foo](s, c.Object) }
	p.deployments.decode = func(c testkit.Change) any { return typed[appsv1.Deployment](s, c.Object) }
	p.foos.handler = controller.EnqueueObject(p.queue)
	p.deployments.handler = controller.EnqueueOwner(p.queue, v1alpha1.Kind("Foo"), informer.FoosNaming(p.foos.store))
	config := s.api.Config()
	config.Transport = p
	config.ContentType = runtime.ContentTypeJSON // which the rules can read
	p.reconciler = &foo.Reconciler{
		Foos:            clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1(),
		Deployments:     appsv1client.NewForConfigOrDie(config),
		FooStore:        p.foos.store,
		DeploymentStore: p.deployments.store,
		Events:          &events.FakeRecorder{},
		Rewrites:        controller.NewRewrites(),
	}
	return p
}

type keySet map[cache.ObjectName]bool

// sorted returns keys in an order that does not vary.
func sorted[V any](keys map[cache.ObjectName]V) []cache.ObjectName {
	return slices.SortedFunc(maps.Keys(keys), func(a, b cache.ObjectName) int { return strings.Compare(a.String(), b.String()) })
}

// queue has the properties of controller.Queue without its goroutines: a key is in
// it once, and one that is added while a worker has it comes back.
type queue struct {
	controller.Queue // nil: a handler and a sequence call only the methods below
	limiter          workqueue.TypedRateLimiter[cache.ObjectName]
	waiting          keySet                         // for a worker
	due              map[cache.ObjectName]time.Time // for its time
	busy             keySet                         // at a worker
	backOff          map[cache.ObjectName]time.Time // An event does not shorten it.
}

func (q *queue) Add(key cache.ObjectName)            { q.waiting[key] = true }
func (q *queue) AddLowPriority(key cache.ObjectName) { q.Add(key) }
func (q *queue) AddRateLimited(key cache.ObjectName) {
	delay := q.limiter.When(key)
	q.backOff[key] = time.Now().Add(delay)
	q.AddAfter(key, delay)
}
func (q *queue) Forget(key cache.ObjectName) {
	delete(q.backOff, key)
	q.limiter.Forget(key)
}
func (q *queue) Done(key cache.ObjectName) { delete(q.busy, key) }
func (q *queue) AddAfter(key cache.ObjectName, delay time.Duration) {
	if at := time.Now().Add(delay); q.due[key].IsZero() || at.Before(q.due[key]) {
		q.due[key] = at
	}
}

// expire makes the keys wait whose time has come.
func (q *queue) expire() {
	for key, at := range q.due {
		if !at.After(time.Now()) {
			delete(q.due, key)
			q.Add(key)
		}
	}
}

// startable returns the keys that a free worker may take.
func (q *queue) startable() []cache.ObjectName {
	return slices.DeleteFunc(sorted(q.waiting), func(key cache.ObjectName) bool { return q.busy[key] || time.Now().Before(q.backOff[key]) })
}

// timerFires makes a key wait before its time: stores may lag longer than any delay.
func (s *sequence) timerFires() bool {
	keys := sorted(s.process.queue.due)
	if len(keys) == 0 || s.resting {
		return false
	}
	key := pick(s, keys)
	s.process.queue.due[key] = time.Now()
	s.note("timer", "%s", key)
	return true
}

// timePasses makes a key due if nothing is on its way to a store or a worker: stores lag by seconds, not by
// minutes.
func (s *sequence) timePasses() bool {
	if len(s.workers) > 0 || s.process.foos.behind() || s.process.deployments.behind() {
		return false
	}
	return s.sleep(time.Now().Add(time.Minute))
}

// sleep waits until something can happen again, and returns false if nothing can before end.
func (s *sequence) sleep(end time.Time) bool {
	next := end
	sooner := func(at time.Time) {
		if at.After(time.Now()) && at.Before(next) {
			next = at
		}
	}
	for _, at := range s.process.queue.due {
		sooner(at)
	}
	for _, at := range s.process.queue.backOff {
		sooner(at)
	}
	for _, w := range s.workers {
		sooner(w.until)
	}
	if next == end {
		return false
	}
	time.Sleep(time.Until(next))
	s.note("time", "%v later", time.Since(s.begin))
	return true
}

// takeOver replaces the process. The new one has no memory of earlier writes, and its first lists are the
// newest. Running reconciles of the old one end, or continue if it was only frozen.
func (s *sequence) takeOver() bool {
	if !s.takeovers {
		return false
	}
	if s.chance(70) {
		s.kill()
	}
	s.replaceProcess()
	return true
}

func (s *sequence) replaceProcess() {
	newest := len(s.api.History())
	s.process = s.newProcess()
	s.note("takeover", "process %d begins", s.process.id)
	s.process.foos.relist(newest)
	s.process.deployments.relist(newest)
}
