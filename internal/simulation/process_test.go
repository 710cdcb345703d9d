package simulation

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/testkit"
)

// process is one run of the program: a reconciler, its queue, and the stores that
// it reads.
type process struct {
	s                 *sequence
	id                int
	foos, deployments *feed
	queue             *queue
	reconciler        *controller.FooReconciler
	failed            keySet // a request for the key has failed
}

// newProcess returns one whose stores are still empty.
func (s *sequence) newProcess() *process {
	s.processes++
	p := &process{s: s, id: s.processes, failed: keySet{}, queue: &queue{waiting: keySet{}, later: keySet{}, busy: keySet{}}}
	p.foos = &feed{s: s, resource: "foos", store: newOrderedIndexer(informer.FooIndexers())}
	p.deployments = &feed{s: s, resource: "deployments", store: newOrderedIndexer(informer.DeploymentIndexers())}
	p.foos.decode = func(c testkit.Change) any { return typed[v1alpha1.Foo](s, c.Object) }
	p.deployments.decode = func(c testkit.Change) any { return typed[appsv1.Deployment](s, c.Object) }
	p.foos.handler = controller.EnqueueObject(p.queue)
	p.deployments.handler = controller.EnqueueOwner(v1alpha1.Kind("Foo"), informer.FoosNaming(p.foos.store))(p.queue)
	config := s.api.Config()
	config.Transport = p
	config.ContentType = runtime.ContentTypeJSON // which the rules can read
	p.reconciler = &controller.FooReconciler{
		Foos:            clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1(),
		Deployments:     appsv1client.NewForConfigOrDie(config),
		FooStore:        p.foos.store,
		DeploymentStore: p.deployments.store,
		Events:          &events.FakeRecorder{},
		Failures:        controller.NewFailures(3),
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
	controller.Queue        // nil: a handler and a sequence call only the methods below
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
// seconds, not by minutes: only when nothing is on its way to them, and no worker waits for an
// answer, much time passes.
func (s *sequence) timerFires() bool {
	keys := s.process.queue.later.sorted()
	if len(keys) == 0 {
		return false
	}
	key := pick(s, keys)
	delete(s.process.queue.later, key)
	s.process.queue.Add(key)
	if len(s.workers) == 0 && !s.process.foos.behind() && !s.process.deployments.behind() {
		time.Sleep(11 * time.Second)
	}
	s.note("timer", "%s", key)
	return true
}

// takeOver replaces the process. The new one knows nothing of what the old one
// wrote; its first lists are the newest. What the old one had under way
// ends with it, or it was only frozen and goes on.
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
