//go:build bare

package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/testkit"
)

// TestMain runs the tests, or with -kubeconfig the program, as TestCausesFramework in tools/look/ does.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("kubeconfig").Value.String() == "" {
		os.Exit(m.Run())
	}
	if err := tell(); err != nil {
		fmt.Fprintln(os.Stderr, "framework:", err)
		os.Exit(1)
	}
}

// tell is the program, and prints because of which events it reconciles and writes, as byhand does with
// --trace=json.
func tell() error {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	told := &told{pending: map[ctrl.Request][]heard{}, own: map[string]bool{}}
	config := ctrl.GetConfigOrDie()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{next, told} })
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	told.FooReconciler = FooReconciler{Client: mgr.GetClient(), Scheme: scheme, Recorder: mgr.GetEventRecorder("foo-controller")}
	ctx := ctrl.SetupSignalHandler()
	if err := mgr.GetFieldIndexer().IndexField(ctx, &appsv1.Deployment{}, ownerKey, controllerUID); err != nil {
		return err
	}
	// As in SetupWithManager, where For and Owns stand for these two handlers.
	owner := handler.EnqueueRequestForOwner(scheme, mgr.GetRESTMapper(), &v1alpha1.Foo{}, handler.OnlyControllerOwner())
	if err := ctrl.NewControllerManagedBy(mgr).
		Watches(&v1alpha1.Foo{}, told.noted("Foo", &handler.EnqueueRequestForObject{}), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&appsv1.Deployment{}, told.noted("Deployment", owner)).
		Named("foo").
		Complete(told); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// told knows what led to each reconcile.
type told struct {
	FooReconciler

	mu      sync.Mutex
	seq     int64
	pending map[ctrl.Request][]heard // what put a Foo into the queue since its last reconcile began
	own     map[string]bool          // the versions that its writes made, and the UIDs that they deleted
}

// heard is an event: id is in told.own if a write of the program led to it.
type heard struct{ text, id string }

// print prints a step. Its caller holds the lock.
func (t *told) print(step trace.Step) trace.Step {
	t.seq++
	step.Seq, step.Time = t.seq, time.Now()
	fmt.Print(step.Line())
	return step
}

type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// noting is the queue as the handler of one event sees it.
type noting struct {
	priorityqueue.PriorityQueue[ctrl.Request]
	note func(ctrl.Request)
}

func (n noting) Add(item ctrl.Request) { n.AddWithOpts(priorityqueue.AddOpts{}, item) }

func (n noting) AddWithOpts(o priorityqueue.AddOpts, items ...ctrl.Request) {
	for _, item := range items {
		n.note(item)
	}
	n.PriorityQueue.AddWithOpts(o, items...)
}

// noted notes what a handler of a kind's events puts into the queue.
func (t *told) noted(kind string, h handler.EventHandler) handler.EventHandler {
	noting := func(q queue, what string, o client.Object, id string) queue {
		return noting{q.(priorityqueue.PriorityQueue[ctrl.Request]), func(item ctrl.Request) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.pending[item] = append(t.pending[item], heard{kind + " " + o.GetName() + " " + what, id})
			t.print(trace.Step{Part: trace.PartStream, What: trace.Received, Kind: kind, Key: client.ObjectKeyFromObject(o).String(), For: item.String()})
		}}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			h.Create(ctx, e, noting(q, "added", e.Object, e.Object.GetResourceVersion()))
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			h.Update(ctx, e, noting(q, "changed", e.ObjectNew, e.ObjectNew.GetResourceVersion()))
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			h.Delete(ctx, e, noting(q, "deleted", e.Object, string(e.Object.GetUID())))
		},
	}
}

// reconciling is the key of a context that has the step with which its reconcile began.
type reconciling struct{}

func (t *told) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return t.FooReconciler.Reconcile(context.WithValue(ctx, reconciling{}, t.begin(req)), req)
}

// begin says what led to a reconcile: events, or else that the pause after a failure is over.
func (t *told) begin(req ctrl.Request) trace.Step {
	t.mu.Lock()
	defer t.mu.Unlock()
	var causes []string
	for _, e := range t.pending[req] {
		if t.own[e.id] {
			e.text = "our own write: " + e.text
		}
		causes = append(causes, e.text)
	}
	delete(t.pending, req)
	return t.print(trace.Step{Part: trace.PartReconcile, What: trace.Started, For: req.String(), Cause: cmp.Or(strings.Join(causes, "; "), "the delay is over: ")})
}

// transport tells of each write to which reconcile it belongs, and notes what it made.
type transport struct {
	http.RoundTripper
	told *told
}

var decoder = serializer.NewCodecFactory(scheme).UniversalDeserializer()

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	began, isOfReconcile := r.Context().Value(reconciling{}).(trace.Step)
	if !isOfReconcile || r.Method == http.MethodGet {
		return t.RoundTripper.RoundTrip(r)
	}
	target := testkit.TargetOf(r.URL.Path)
	if target.Name == "" {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		sent, _ := io.ReadAll(body)
		object, _, _ := decoder.Decode(sent, nil, nil)
		target.Name = object.(client.Object).GetName()
	}
	t.told.mu.Lock()
	t.told.print(trace.Step{Part: trace.PartRequest, What: trace.Sent, CauseSeq: began.Seq, For: began.For, Key: target.Namespace + "/" + target.Name,
		Request: &trace.Request{Method: r.Method, Path: r.URL.Path}})
	t.told.mu.Unlock()
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	object, _, _ := decoder.Decode(answer, nil, nil)
	t.told.mu.Lock()
	defer t.told.mu.Unlock()
	if status, ok := object.(*metav1.Status); ok && status.Details != nil {
		t.told.own[string(status.Details.UID)] = true
	} else if made, err := meta.Accessor(object); err == nil {
		t.told.own[made.GetResourceVersion()] = true
	}
	return response, nil
}
