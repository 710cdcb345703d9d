package simulation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/kit/testkit"
)

// worker is a running reconcile. It stops at each request, and anything else may happen before it continues.
type worker struct {
	process *process
	key     cache.ObjectName
	next    func() (struct{}, bool)
	stop    func()      // see kill
	pause   func() bool // returns false when it is killed
	killed  bool
	until   time.Time // the server answers then
	sending string    // the path of the request that is on its way
	again   time.Duration
	err     error
	seen    seen
}

func (w *worker) String() string {
	return fmt.Sprintf("process %d", w.process.id)
}

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
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		defer s.recovers()
		w.again, w.err = p.reconciler.Reconcile(ctx, w.key)
	})
	s.workers = append(s.workers, w)
	s.note(w.String(), "%s: reconcile begins", w.key)
	s.goOn(w)
	return true
}

// workerGoesOn lets one reconcile run to its next request, or to its end.
func (s *sequence) workerGoesOn() bool {
	free := slices.DeleteFunc(slices.Clone(s.workers), func(w *worker) bool { return w.until.After(time.Now()) })
	if len(free) == 0 {
		return false
	}
	s.goOn(pick(s, free))
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
	case w.err != nil:
		outcome = "error: " + w.err.Error()
		w.process.queue.AddRateLimited(w.key)
	case w.again == 0:
		w.process.queue.Forget(w.key)
	}
	if w.again > 0 {
		outcome += ", again after " + w.again.String()
		w.process.queue.AddAfter(w.key, w.again)
	}
	w.process.queue.Done(w.key)
	s.note(w.String(), "%s: %s", w.key, outcome)
}

// kill ends all workers: no request of theirs reaches the server any more, and no
// answer reaches them.
func (s *sequence) kill() {
	for _, w := range s.workers {
		s.acting = w
		w.stop()
	}
	s.acting, s.workers = nil, nil
}

var (
	errKilled = errors.New("the process has ended")
	errLost   = errors.New("the connection broke, the answer is lost")
)

// RoundTrip sends the request of the running worker. Others may act before and after it.
func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	s, w := p.s, p.s.acting
	x := s.read(r)
	w.sending = x.path
	if !s.passes(w, 75) {
		return nil, errKilled
	}
	s.ambush(w.sending)
	s.checkRate(x)
	refused, lost := s.fault(x)
	if x.takes > 0 {
		w.until = time.Now().Add(x.takes)
		if end, limited := r.Context().Deadline(); limited && end.Before(w.until) {
			w.until = end.Add(time.Millisecond)
		}
		s.note(w.String(), "%s: %s %s hangs", w.key, x.operation(), x.name)
		if !s.passes(w, 100) {
			return nil, errKilled
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if refused != nil {
		s.note(w.String(), "%s: %s %s → %d %s, made up", w.key, x.operation(), x.name, refused.ErrStatus.Code, refused.ErrStatus.Reason)
		return testkit.Transport{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { testkit.WriteError(w, refused) })}.RoundTrip(r)
	}
	response := s.send(r, x)
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

// exchange is one request with the stored object before and after it, or nil, and its rejection. The objects
// are the server's.
type exchange struct {
	method, path          string // the path without /status
	status                bool   // of the status subresource
	resource, name        string
	body, admitted        *unstructured.Unstructured // as sent, and as changed by attackers; may be nil
	at                    time.Time
	takes                 time.Duration
	preconditions         metav1.Preconditions
	before, after, answer *unstructured.Unstructured
	refused               *apierrors.StatusError
	worker                *worker
	version               int  // of the object after it
	delivered             bool // the worker has the answer
}

func (s *sequence) read(r *http.Request) *exchange {
	x := &exchange{worker: s.acting, method: r.Method, at: time.Now(), body: &unstructured.Unstructured{}}
	x.path, x.status = strings.CutSuffix(r.URL.Path, "/status")
	var sent []byte
	if r.Body != nil {
		sent, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	if r.Method == http.MethodDelete {
		var options metav1.DeleteOptions
		_ = json.Unmarshal(sent, &options)
		if options.Preconditions != nil {
			x.preconditions = *options.Preconditions
		}
	} else if sent != nil {
		_ = x.body.UnmarshalJSON(sent)
		x.admitted = x.body.DeepCopy()
	}
	if r.Method == http.MethodPost {
		x.path += "/" + x.body.GetName()
	}
	target := testkit.TargetOf(x.path)
	x.resource, x.name = target.Resource, target.Name
	return x
}

func (x *exchange) operation() string {
	if x.status {
		return x.method + " " + x.resource + "/status"
	}
	return x.method + " " + x.resource
}

func (s *sequence) send(r *http.Request, x *exchange) *http.Response {
	if x.admitted != nil {
		sent, _ := x.admitted.MarshalJSON()
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
	}
	x.before = s.api.Get(x.path)
	response, _ := testkit.Transport{Handler: s.api}.RoundTrip(r)
	x.after = s.api.Get(x.path)
	text, _ := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(text))
	if response.StatusCode >= http.StatusBadRequest {
		x.refused = &apierrors.StatusError{}
		_ = json.Unmarshal(text, &x.refused.ErrStatus)
	} else if r.Method != http.MethodDelete {
		x.answer = x.after
	}
	s.audit(x)
	return response
}

// passes lets others act with that chance, and returns false if the process has
// been killed.
func (s *sequence) passes(w *worker, percent int) bool {
	if !w.killed && s.chance(percent) {
		w.killed = !w.pause()
	}
	return !w.killed
}

// fault decides the failure of a request: it is rejected, or its response is lost.
func (s *sequence) fault(x *exchange) (refused *apierrors.StatusError, lost bool) {
	for _, a := range s.attackers {
		if a.admit != nil {
			refused = cmp.Or(a.admit(x), refused)
		}
	}
	if refused != nil || !s.faults || s.resting || !s.chance(20) {
		return refused, false
	}
	if kind := s.rand.IntN(2 * len(refusals)); kind < len(refusals) {
		return s.refuse(kind), false
	}
	return nil, true
}
