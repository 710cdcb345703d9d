package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
)

// The method and the path say what is wanted, in RBAC's words. What is no watch ends in time, also
// while it waits for the API server.
func TestRoutes(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct{ method, path, want string }{
		{"GET", collection, "list"},
		{"GET", collection + "/salami", "get salami"},
		{"GET", collection + "?watch=1&fieldSelector=metadata.name%3Da", "watch a"},
		{"GET", collection + "?fieldSelector=metadata.name%3Da", "list a"},
		{"GET", collection + "?watch", "watch"},
		{"GET", collection + "?watch=0", "list"},
		{"POST", collection, "create"},
		// A selector must not let a user make any object who may make one.
		{"POST", collection + "?fieldSelector=metadata.name%3Da", "create"},
		{"PUT", collection + "/a", "update a"},
		{"PATCH", collection + "/a", "patch a"},
		{"DELETE", collection + "/a", "delete a"},
		{"GET", "/openapi/v3", ""},
	} {
		got := "nothing"
		w.handler.authorize = func(ctx context.Context, r *request) error {
			if _, ends := ctx.Deadline(); ends == (r.verb == "watch") {
				t.Errorf("%s %s: it ends in time: %t", test.method, test.path, ends)
			}
			got = strings.TrimSpace(r.verb + " " + r.name)
			return errors.New("no")
		}
		w.must(http.StatusInternalServerError, test.method, test.path, "")
		if got != test.want {
			t.Errorf("%s %s: %q, want %q", test.method, test.path, got, test.want)
		}
	}
}

// Too many at once are sent away, and told when to come back.
func TestTooMany(t *testing.T) {
	w := newWorld(t)
	w.handler.requests, w.handler.watches = newRoom(0), newRoom(0)
	w.must(http.StatusTooManyRequests, "GET", collection, "")
	if got := w.must(http.StatusTooManyRequests, "GET", collection+"?watch=true", ""); got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
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

// What a client chooses cannot write to the terminal that shows the log.
func TestLog(t *testing.T) {
	w := newWorld(t)
	w.handler.authenticate = func(*http.Request) (user, error) { return user{User: "\u009b31m"}, nil }
	w.do("GET", collection+"?x=\u009b31m", "")
	if lines := w.said("GET"); len(lines) != 1 || strings.Contains(lines[0], "\u009b") {
		t.Errorf("the log has %q", lines)
	}
}
