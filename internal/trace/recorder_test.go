package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// say records a step that is only a text.
func say(r *Recorder, text string) int64 {
	return r.record(Step{Part: PartProgram, What: Said, Text: text})
}

// catchUp waits until what was recorded is told.
func catchUp(r *Recorder) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.tell(nil)
}

func texts(steps []Step) (all []string) {
	for _, step := range steps {
		all = append(all, step.Text)
	}
	return all
}

// The newest steps are kept, within a number and within a size.
func TestPast(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options Options
		steps   int
		want    []string
	}{
		{"fewer than fit", Options{Steps: 3}, 2, []string{"1", "2"}},
		{"as many as fit", Options{Steps: 3}, 3, []string{"1", "2", "3"}},
		{"more", Options{Steps: 3}, 8, []string{"6", "7", "8"}},
		{"more bytes than fit", Options{Bytes: 2*stepBytes + 10}, 70, []string{"69", "70"}},
		{"one step is more than fits", Options{Bytes: 1}, 3, []string{"3"}},
	} {
		r := New(test.options)
		for i := range test.steps {
			say(r, fmt.Sprint(i+1))
		}
		past, live := r.Subscribe(1, nil)
		live.Stop()
		if diff := cmp.Diff(test.want, texts(past)); diff != "" {
			t.Errorf("%s: kept (-want +got):\n%s", test.reason, diff)
		}
		for i, step := range past {
			if want := int64(test.steps - len(past) + i + 1); step.Seq != want || step.Time.IsZero() {
				t.Errorf("%s: step %q has number %d and time %s, want number %d", test.reason, step.Text, step.Seq, step.Time, want)
			}
		}
	}
}

// The circle grows where its beginning is not its first element.
func TestRing(t *testing.T) {
	r := ring{most: 1000, mostBytes: 70 * stepBytes}
	for i := range 500 {
		text := ""
		if i > 300 {
			r.mostBytes = 1 << 20
		}
		r.add(&Step{Seq: int64(i), Text: text})
	}
	all := r.all()
	for i, step := range all {
		if i > 0 && step.Seq != all[i-1].Seq+1 {
			t.Fatalf("step %d follows step %d", step.Seq, all[i-1].Seq)
		}
	}
	if last := all[len(all)-1].Seq; last != 499 || len(all) < 200 || r.bytes != int64(len(all))*stepBytes {
		t.Errorf("%d steps up to %d with %d bytes", len(all), last, r.bytes)
	}
}

// Between the past and what follows nothing is missing, whoever records meanwhile.
func TestSubscribeMissesNothing(t *testing.T) {
	r := New(Options{})
	var recording sync.WaitGroup
	for range 4 {
		recording.Go(func() {
			for range 500 {
				say(r, "step")
			}
		})
	}
	past, live := r.Subscribe(2000, nil)
	recording.Wait()
	r.Close()
	next := int64(1)
	for _, step := range past {
		if step.Seq != next {
			t.Fatalf("step %d, want %d", step.Seq, next)
		}
		next++
	}
	for step, lost, ok := live.Next(t.Context()); ok; step, lost, ok = live.Next(t.Context()) {
		if step.Seq != next || lost != 0 {
			t.Fatalf("step %d after %d lost, want %d", step.Seq, lost, next)
		}
		next++
	}
	if next != 2001 {
		t.Errorf("the last step is %d, want 2000", next-1)
	}
}

// A subscription that is slow loses steps, knows where and how many, and holds up
// nobody.
func TestSlowSubscription(t *testing.T) {
	r := New(Options{})
	_, slow := r.Subscribe(2, func(step *Step) bool { return step.Text != "not wanted" })
	_, gone := r.Subscribe(2, nil)
	gone.Stop()
	gone.Stop()
	for i := range 5 {
		say(r, fmt.Sprint(i+1))
		say(r, "not wanted")
	}
	catchUp(r)
	next := func(want string, wantLost int64, wantOK bool) {
		t.Helper()
		if step, lost, ok := slow.Next(t.Context()); step.Text != want || lost != wantLost || ok != wantOK {
			t.Errorf("step %q after %d lost (%t), want %q after %d (%t)", step.Text, lost, ok, want, wantLost, wantOK)
		}
	}
	next("1", 0, true)
	next("2", 0, true)
	say(r, "6")
	catchUp(r)
	next("6", 3, true)
	for i := range 4 {
		say(r, fmt.Sprint(i+7))
	}
	r.Close()
	next("7", 0, true)
	next("8", 0, true)
	next("", 2, false)

	_, late := r.Subscribe(1, nil)
	if _, _, ok := late.Next(t.Context()); ok {
		t.Error("a closed Recorder hands out steps")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, waiting := New(Options{}).Subscribe(1, nil)
	if _, _, ok := waiting.Next(ctx); ok {
		t.Error("a step came from nowhere")
	}
}

// Off, each wrapper is what it wraps.
func TestOff(t *testing.T) {
	var off *Recorder
	queue := controller.NewPriorityQueue("")
	defer queue.ShutDown()
	if off.Queue(queue) != queue {
		t.Error("the queue is wrapped")
	}
	if off.Transport(http.DefaultTransport) != http.DefaultTransport {
		t.Error("the transport is wrapped")
	}
	if handler := off.Handler("Project", queue, nil); handler != nil {
		t.Errorf("the handler is %v, want none", handler)
	}
	made := cache.FilteringResourceEventHandler{}
	if handler := off.Handler("Foo", queue, func(to controller.PriorityQueue) cache.ResourceEventHandler {
		if to != queue {
			t.Error("the handler gets another queue")
		}
		return &made
	}); handler != &made {
		t.Error("the handler is wrapped")
	}
	called := false
	if _, err := off.Reconcile(func(context.Context, cache.ObjectName) (time.Duration, error) { called = true; return 0, nil })(t.Context(), cache.ObjectName{}); err != nil || !called {
		t.Error("the reconcile is not called")
	}
	var out bytes.Buffer
	off.Program(Said, "nothing")
	off.Print(Flag{on: true}, &out)
	off.Close()
	if out.Len() > 0 {
		t.Errorf("printed %q", out.String())
	}
}

// What was recorded before Close is printed; a reader that does not read does not
// hold up the end of the process, nor anybody before.
func TestPrint(t *testing.T) {
	r := New(Options{})
	var all, one bytes.Buffer
	say(r, "before")
	r.Print(Flag{on: true, json: true}, &all)
	r.Print(Flag{on: true, foo: "default/foo"}, &one)
	r.Print(Flag{}, nil)
	r.record(Step{Part: PartQueue, What: Added, Key: "default/foo", Foo: "default/foo"})
	r.record(Step{Part: PartQueue, What: Added, Key: "default/other", Foo: "default/other"})
	r.Close()
	steps, err := ReadRecording(&all)
	if err != nil || len(steps) != 3 {
		t.Errorf("%d steps (%v), want 3", len(steps), err)
	}
	if text := one.String(); strings.Count(text, "\n") != 2 || strings.Contains(text, "other") {
		t.Errorf("the trace of one Foo, and of the process:\n%s", text)
	}
}

// stuck is a pipe that nobody reads, until release is closed.
type stuck struct {
	bytes.Buffer
	release chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.release
	return s.Buffer.Write(p)
}

func TestPrintToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Steps: 1})
		out := &stuck{release: make(chan struct{})}
		r.Print(Flag{on: true, json: true}, out)
		for range 2 * waitingSteps {
			say(r, "step")
		}
		began := time.Now()
		r.Close()
		if waited := time.Since(began); waited != lastWords {
			t.Errorf("Close waits %s of this test's own time, want %s", waited, lastWords)
		}
		synctest.Wait()
		close(out.release)
		synctest.Wait()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		var last Step
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
			t.Fatal(err)
		}
		if last.What != Dropped || !strings.Contains(last.Text, "steps are missing here") {
			t.Errorf("the last of %d lines is %q, want the number of those that are missing", len(lines), last.Text)
		}
		if steps, err := ReadRecording(&out.Buffer); err != nil || len(steps) != len(lines) {
			t.Errorf("of %d lines %d can be read: %v", len(lines), len(steps), err)
		}
	})
}

// A hundred thousand Foos in the first list, and a listener that does not listen:
// what is held is bounded, and every step is counted.
func TestManyObjects(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const objects = 100_000
	r, queue := traced()
	defer queue.ShutDown()
	_, deaf := r.Subscribe(10, nil)
	h := r.Handler("Foo", queue, enqueueFoos)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range objects {
		f := foo(fmt.Sprint(i))
		f.Name = fmt.Sprintf("foo-%d", i)
		h.OnAdd(f, true)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := after.HeapAlloc - before.HeapAlloc
	catchUp(r)
	if kept > 2*defaultBytes {
		t.Errorf("%d MiB are kept, want at most %d", kept>>20, 2*defaultBytes>>20)
	}
	past, live := r.Subscribe(1, nil)
	live.Stop()
	if len(past) > defaultSteps || r.past.bytes > defaultBytes {
		t.Errorf("%d steps with %d bytes are kept", len(past), r.past.bytes)
	}
	t.Logf("%d MiB for %d objects, of them %d MiB in the past", kept>>20, objects, r.past.bytes>>20)

	// Each of them was told, or counted where it is missing.
	for range 10 {
		deaf.Next(t.Context())
	}
	say(r, "the last")
	catchUp(r)
	step, lost, _ := deaf.Next(t.Context())
	if step.Seq != 2*objects+1 || lost < 10_000 {
		t.Errorf("step %d after %d lost ones, want step %d", step.Seq, lost, 2*objects+1)
	}
	for i, step := range past[1:] {
		if step.Seq != past[i].Seq+1 && step.What != Dropped {
			t.Errorf("step %d follows step %d, and nobody says that any is missing", step.Seq, past[i].Seq)
		}
	}
}
