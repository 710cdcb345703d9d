// Package story tells, a line at a time, what a controller hears and what it
// sends because of it. main wraps it around the places where a change comes in (a
// handler) and where a request goes out (a transport), so that the code which a
// learner reads need not print.
package story

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// Teller writes the story. It is safe for concurrent use.
type Teller struct {
	mu  sync.Mutex
	out io.Writer
}

// New returns a Teller that writes to out.
func New(out io.Writer) *Teller { return &Teller{out: out} }

// Say writes one line, after the time of day.
func (t *Teller) Say(format string, args ...any) {
	line := time.Now().Format("15:04:05.000  ") + fmt.Sprintf(format, args...) + "\n"
	t.mu.Lock()
	defer t.mu.Unlock()
	// A story that nobody can hear is no reason to stop the controller.
	_, _ = io.WriteString(t.out, line)
}

// mostFound is how many objects of a kind are told one by one when the first list
// comes. A story of thousands tells nothing.
const mostFound = 50

// Handler tells of each object that appears, goes, or changes in a way that
// describe shows, and then calls next, which may be nil. describe returns "" for
// an object that is not part of the story.
func Handler[T any](t *Teller, kind string, describe func(T) string, next cache.ResourceEventHandler) cache.ResourceEventHandler {
	if next == nil {
		next = cache.ResourceEventHandlerFuncs{}
	}
	tell := func(what string, obj any, description string) {
		if key, err := cache.DeletionHandlingObjectToName(obj); err == nil && description != "" {
			t.Say("%-7s  %s %s: %s", what, kind, key, description)
		}
	}
	found := 0 // handlers are called one after the other
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			description := describe(obj.(T))
			switch {
			case !isInInitialList:
				tell("added", obj, description)
			case description != "" && found < mostFound:
				tell("found", obj, description)
				if found++; found == mostFound {
					t.Say("found    more of kind %s, if any, are not told one by one", kind)
				}
			}
			next.OnAdd(obj, isInInitialList)
		},
		UpdateFunc: func(before, after any) {
			if description := describe(after.(T)); description != describe(before.(T)) {
				tell("changed", after, description)
			}
			next.OnUpdate(before, after)
		},
		DeleteFunc: func(obj any) {
			last := obj
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				last = tombstone.Obj
			}
			if known, ok := last.(T); ok && describe(known) != "" {
				tell("deleted", obj, "it is gone")
			}
			next.OnDelete(obj)
		},
	}
}

type keyOfContext struct{}

// Reconcile passes the key on to the transport, through the context, so that each
// request can be told with the object that it is for.
func (t *Teller) Reconcile(next controller.Reconcile) controller.Reconcile {
	return func(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
		return next(context.WithValue(ctx, keyOfContext{}, key), key)
	}
}

// Transport tells of each request that changes something, and of its answer.
func (t *Teller) Transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if request.Method == http.MethodGet {
			return response, err
		}
		answer := "no answer"
		if err == nil {
			answer = response.Status
		}
		cause := ""
		if key, ok := request.Context().Value(keyOfContext{}).(cache.ObjectName); ok {
			cause = fmt.Sprintf("  (for Foo %s)", key)
		}
		t.Say("%-7s  %s %s → %s%s", "sent", request.Method, request.URL.Path, answer, cause)
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
