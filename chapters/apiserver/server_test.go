package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The method and the path say what is wanted, in RBAC's words.
func TestRoutes(t *testing.T) {
	for _, test := range []struct{ method, path, want string }{
		{"GET", collection, "list"},
		{"GET", collection + "/salami", "get salami"},
		{"GET", collection + "?watch=true", "watch"},
		{"GET", collection + "?watch=1&fieldSelector=metadata.name%3Da", "watch a"},
		{"GET", collection + "?fieldSelector=metadata.name%3Da", "list a"},
		{"GET", collection + "?fieldSelector=metadata.name%21%3Da", "list"},
		{"GET", collection + "?watch", "watch"},
		{"GET", collection + "?watch=True", "watch"},
		{"GET", collection + "?watch=False", "list"},
		{"GET", collection + "?watch=0", "list"},
		{"GET", collection + "/a?fieldSelector=metadata.name%3Db", "get a"},
		{"POST", collection, "create"},
		// A selector must not let a user make any object who may make one.
		{"POST", collection + "?fieldSelector=metadata.name%3Da", "create"},
		{"PUT", collection + "/a", "update a"},
		{"PATCH", collection + "/a", "patch a"},
		{"DELETE", collection + "/a", "delete a"},
		{"GET", "/openapi/v3", ""},
	} {
		got := "nothing"
		s := newServer()
		s.log = func(string) {}
		s.authenticate = func(*http.Request) (user, error) { return user{}, nil }
		s.authorize = func(_ context.Context, r *request) error {
			got = strings.TrimSpace(r.verb + " " + r.name)
			return errors.New("no")
		}
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(test.method, test.path, nil))
		if got != test.want {
			t.Errorf("%s %s: %q, want %q", test.method, test.path, got, test.want)
		}
	}
}

// Too many at once are sent away, and told when to come back.
func TestTooMany(t *testing.T) {
	w := newWorld(t)
	w.handler.requests, w.handler.watches = newRoom(0), newRoom(0)
	for _, query := range []string{"", "?watch=true"} {
		got := w.must(http.StatusTooManyRequests, "GET", collection+query, "")
		if got.header.Get("Retry-After") == "" {
			t.Errorf("%q: no Retry-After", query)
		}
	}
}

// A user who takes all that one may take leaves room for others, who can fill it, and gives
// back what is over.
func TestRoom(t *testing.T) {
	room := newRoom(8)
	takes := func(user string, want bool) func() {
		t.Helper()
		leave, err := room.enter(user)
		if got := err == nil; got != want {
			t.Errorf("%s gets room: %t, want %t", user, got, want)
		}
		return leave
	}
	takes("alice", true)
	leave := takes("alice", true)
	takes("alice", false)
	for _, user := range []string{"bob", "carol", "dave"} {
		takes(user, true)
		takes(user, true)
	}
	takes("erin", false)
	leave()
	takes("alice", true)
}

// A request that is no watch ends in time, also while it waits for the API server.
func TestRequestTime(t *testing.T) {
	w := newWorld(t)
	var left time.Duration
	w.handler.authorize = func(ctx context.Context, _ *request) error {
		end, _ := ctx.Deadline()
		left = time.Until(end)
		return errors.New("no")
	}
	w.must(http.StatusInternalServerError, "GET", collection, "")
	if left <= 0 || left > requestTime {
		t.Errorf("it has %v, want at most %v", left, requestTime)
	}
}

// What a client chooses cannot write to the terminal that shows the log.
func TestLog(t *testing.T) {
	w := newWorld(t)
	w.handler.authenticate = func(*http.Request) (user, error) { return user{User: "\u009b31m"}, nil }
	w.do("GET", collection+"?x=\u009b31m", "")
	if lines := w.said("\u009b"); len(lines) > 0 {
		t.Errorf("the log has %q", lines)
	}
}
