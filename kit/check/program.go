package check

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"example.com/byhand/kit/testkit"
)

// Program is a whole program with an API server in memory, in a bubble of testing/synctest: the clock advances
// only while both wait.
type Program struct {
	*testing.T
	*testkit.APIServer
	// Path is where Create stores the sample.
	Path string
	// Ended receives the program's result, once.
	Ended chan error

	kind *Kind
	log  ktesting.Underlier
}

// client-go's second handler sleeps until the last error of the process is a millisecond old. In a bubble it
// may sleep for years, because that error may have the time of a different clock.
func init() { utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] }

// Run runs a test with a program, on a server that serves the kind, all built-in kinds and more. After the test
// the program's context is canceled, and the program must return.
func (k *Kind) Run(t *testing.T, program func(ctx context.Context, config *rest.Config) error, test func(p *Program), more ...testkit.Resource) {
	t.Helper()
	k.inBubble(t, func(t *testing.T) {
		logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true)))
		p := &Program{T: t, APIServer: k.server(t, more), Path: k.path(t), Ended: make(chan error, 1),
			kind: k, log: logger.GetSink().(ktesting.Underlier)}
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
		var running sync.WaitGroup
		defer func() {
			cancel()
			running.Wait()
			if errors := p.errors(); t.Failed() && len(errors) > 0 {
				t.Logf("the program has logged:\n%s", strings.Join(errors, "\n"))
			}
		}()
		running.Go(func() { p.Ended <- program(ctx, p.Config()) })
		k.failed = true
		p.Later() // It has started, or the test ends here.
		k.failed = false
		test(p)
	})
}

// inBubble is synctest.Test, but skips a test after an earlier failure, and allows a program that leaves
// goroutines behind: the end of a process would end them.
func (k *Kind) inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if k.failed {
		t.Skip("a test before has failed, and this would follow from it")
	}
	defer func() {
		if reason := recover(); reason != nil && !strings.Contains(fmt.Sprint(reason), "main bubble goroutine has exited") {
			panic(reason)
		}
	}()
	synctest.Test(t, test)
}

// Later waits for two minutes of the program's time, in which it finishes its work. If the program has ended,
// the test fails.
func (p *Program) Later() {
	p.Helper()
	time.Sleep(2 * time.Minute)
	if len(p.Ended) > 0 {
		p.Fatalf("main.go: run has ended: %v", <-p.Ended)
	}
}

// Create stores the sample, as another client does.
func (p *Program) Create() { p.Add(p.Path, p.kind.Object(p.T)) }

// Edit changes a stored object, as another client does.
func (p *Program) Edit(path string, change func(object *unstructured.Unstructured)) {
	p.Helper()
	before := p.Get(path)
	if before == nil {
		p.Fatalf("there is no %s", testkit.TargetOf(path))
	}
	if p.APIServer.Edit(path, change); p.Get(path) == before {
		p.Fatalf("the API server drops this change of %s: does the schema know the field?", testkit.TargetOf(path))
	}
}

// Collect does what the garbage collector would do now.
func (p *Program) Collect() {
	for _, act := range p.Garbage() {
		act.Do()
	}
}

// Writes returns the writes of the program, except to its Lease.
func (p *Program) Writes() []string {
	synctest.Wait()
	return writes(p.APIServer.Log())
}

func writes(log []testkit.Request) (sent []string) {
	for _, r := range log {
		if r.Method != http.MethodGet && r.Target.Resource != "leases" {
			sent = append(sent, r.Method+" "+r.Target.String())
		}
	}
	return sent
}

// Made fails the test unless an object is at a path, and an informer of the program selects it.
func (p *Program) Made(path string) {
	p.Helper()
	object, target := p.Get(path), testkit.TargetOf(path)
	if object == nil {
		p.Fatalf("reconcile.go has made no %s; or no handler of informer.go has called it, or main.go runs no informer", target)
	}
	seen := slices.ContainsFunc(p.APIServer.Log(), func(r testkit.Request) bool {
		return r.Method == http.MethodGet && r.Target == testkit.Target{Group: target.Group, Version: target.Version, Resource: target.Resource, Namespace: r.Target.Namespace} && selects(r, object.GetLabels())
	})
	if !seen {
		p.Fatalf("no informer sees %s, which has the labels %v: is the label in reconcile.go that by which informer.go selects?", target, object.GetLabels())
	}
}

func selects(r testkit.Request, of labels.Set) bool {
	selector, err := labels.Parse(r.Query.Get("labelSelector"))
	return err == nil && selector.Matches(of)
}

// Healthy fails the test if the program has logged an error, or sent a request without a User-Agent.
func (p *Program) Healthy() {
	p.Helper()
	for _, text := range p.errors() {
		p.Errorf("nothing was wrong, and the program has logged: %s", text)
	}
	for _, r := range p.APIServer.Log() {
		if r.Agent == "" {
			p.Fatalf("client.go: %s %s has no User-Agent: logs and managedFields will say Go-http-client", r.Method, r.Path)
		}
	}
}

// errors returns the program's logged errors, each once, at most five.
func (p *Program) errors() (texts []string) {
	for _, entry := range p.log.GetBuffer().Data() {
		if text := utilruntime.ErrorToString(entry.Err, entry.Message, entry.ParameterKVList...); entry.Type == ktesting.LogError && !slices.Contains(texts, text) && len(texts) < 5 {
			texts = append(texts, text)
		}
	}
	return texts
}
