package main

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/byhand/kit/testkit"
)

// row is a row of the README's table. play injects the fault; it calls start, which starts a
// program and waits until it is idle. An hour later the other fields check the result.
type row struct {
	name string
	play func(s *server, start func())
	// ends is a part of the error with which this program exits. If it is set, only the core
	// creates a Deployment for the Foo "new".
	ends string
	// floods: this program repeats its POST without a pause, and the Foo "new" has no status.
	floods bool
	// fails checks how this program broke. passes checks what the core did.
	fails  func(t *testing.T, s *server, p *byHTTP)
	passes func(t *testing.T, s *server, p *byCore)
}

var rows = []row{
	{
		name: "410 Gone",
		// More changes happen between list and watch than the server remembers.
		play: func(s *server, start func()) {
			s.create("first")
			s.Intercept(once(isWatchOfFoos, func(http.ResponseWriter, *http.Request) bool {
				s.create("new")
				s.Compact()
				return false
			}))
			start()
		},
		ends: `"code":410`,
	},
	{
		name: "a stream cut off",
		play: func(s *server, start func()) {
			s.create("first")
			start()
			s.CutWatches("foos")
			synctest.Wait()
			s.create("new")
		},
		ends: io.ErrUnexpectedEOF.Error(),
		passes: func(t *testing.T, s *server, p *byCore) {
			if lists := s.count("GET foos 200"); lists != 1 {
				t.Errorf("%d lists, want 1: it must resume at the last version", lists)
			}
		},
	},
	{
		name: "a missed deletion",
		// A Foo is deleted while no stream is open, and the server forgets the deletion.
		play: func(s *server, start func()) {
			s.create("stays")
			s.create("goes")
			start()
			release := s.HoldWatches("foos")
			s.Remove(fooPath + "goes")
			s.Compact()
			s.EndWatches("foos")
			synctest.Wait()
			release()
		},
		fails: func(t *testing.T, s *server, p *byHTTP) {
			if _, stored := p.store["default/goes"]; !stored {
				t.Error("the store has noticed the deletion")
			}
		},
		passes: func(t *testing.T, s *server, p *byCore) {
			if _, stored, _ := p.foos.Store.GetByKey("default/goes"); stored {
				t.Error("the store still has the deleted Foo")
			}
		},
	},
	{
		name: "its own stale map",
		// A user labels the Foo while its Deployment is created. The event is ten seconds late.
		play: func(s *server, start func()) {
			s.create("new")
			release := s.HoldWatches("foos")
			s.Intercept(once(isPost, func(http.ResponseWriter, *http.Request) bool {
				s.label("new", "labeled")
				return false
			}))
			start()
			time.Sleep(10 * time.Second)
			release()
		},
		floods: true,
		passes: func(t *testing.T, s *server, p *byCore) {
			// After the conflict the core waits until its store has the label.
			s.wrote(t, "POST deployments 201", "PUT foos 409", "PUT foos 200")
		},
	},
	{
		name: "two events at once",
		// A Foo changes twice before the worker reaches it.
		play: func(s *server, start func()) {
			s.create("busy")
			posted := make(chan struct{})
			s.Intercept(once(isPost, func(http.ResponseWriter, *http.Request) bool {
				<-posted
				return false
			}))
			start()
			s.create("foo")
			s.label("foo", "first")
			s.label("foo", "second")
			synctest.Wait()
			s.HoldWatches("foos")
			s.HoldWatches("deployments")
			close(posted)
			synctest.Wait()
			s.stop() // before the next watch, whose events are not held back
		},
		fails: func(t *testing.T, s *server, p *byHTTP) {
			if refused := s.count("POST deployments 409"); refused == 0 {
				t.Error("the Foo's key was in the queue only once")
			}
		},
		passes: func(t *testing.T, s *server, p *byCore) {
			if n := p.reconciled["default/foo"]; n != 1 {
				t.Errorf("reconciled %d times, want 1", n)
			}
		},
	},
	{
		name: "a restart in between",
		// The program is killed between its POST and its PUT, and restarted.
		play: func(s *server, start func()) {
			s.create("new")
			s.Intercept(once(isPut, func(http.ResponseWriter, *http.Request) bool {
				s.stop()
				panic(http.ErrAbortHandler)
			}))
			start()
			start()
		},
		floods: true,
		passes: func(t *testing.T, s *server, p *byCore) {
			s.wrote(t, "POST deployments 201", "PUT foos 200")
		},
	},
	{
		name: "a slow consumer",
		// One POST gets no response. Meanwhile users create more Foos than the queue holds.
		play: func(s *server, start func()) {
			s.create("slow")
			s.Intercept(once(isPost, unanswered))
			start()
			for i := range 200 {
				s.create("foo-" + strconv.Itoa(i))
			}
			synctest.Wait()
		},
		fails: func(t *testing.T, s *server, p *byHTTP) {
			if n := len(s.List("deployments")); n != 0 {
				t.Errorf("%d Deployments, want 0", n)
			}
			if len(p.store) >= 201 {
				t.Error("the program's store has every Foo")
			}
		},
		passes: func(t *testing.T, s *server, p *byCore) {
			if n := len(s.List("deployments")); n != 201 {
				t.Errorf("%d Deployments, want 201", n)
			}
		},
	},
	{
		name: "no back-off",
		play: func(s *server, start func()) {
			s.create("new")
			s.Refuse(func(r *http.Request) *apierrors.StatusError {
				if !isPost(r) {
					return nil
				}
				return apierrors.NewForbidden(appsv1.Resource("deployments"), "new", errors.New("exceeded quota"))
			})
			start()
		},
		floods: true,
		passes: func(t *testing.T, s *server, p *byCore) {
			// The delay doubles from 5 ms to 30 s: 13 attempts, then 120 an hour. Jitter can halve the delay: 253.
			if n := s.count("POST deployments 403"); n < 120 || n > 260 {
				t.Errorf("%d tries in an hour, want about 130 to 250", n)
			}
		},
	},
	{
		name: "a busy server",
		// The list gets 429 with Retry-After.
		play: func(s *server, start func()) {
			s.create("new")
			s.Intercept(once(isListOfFoos, func(w http.ResponseWriter, _ *http.Request) bool {
				testkit.WriteError(w, apierrors.NewTooManyRequests("busy", 1))
				return true
			}))
			start()
		},
		ends: "429",
		passes: func(t *testing.T, s *server, p *byCore) {
			// If the Reflector had seen the 429, it would start with a streaming list again.
			if n := s.count("WATCH foos 422"); n != 1 {
				t.Errorf("%d streaming lists, want 1: the RESTClient must retry", n)
			}
		},
	},
	{
		name: "a token that expires",
		// The file gets a new token, as in a Pod every hour.
		play: func(s *server, start func()) {
			s.create("first")
			start()
			s.setToken("second")
			s.EndWatches("foos")
			synctest.Wait()
			s.create("new")
		},
		ends: "401",
	},
}
