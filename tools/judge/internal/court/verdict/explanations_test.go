package verdict

import (
	"os"
	"regexp"
	"testing"

	"example.com/byhand/kit/testkit"
)

func TestLessonFiles(t *testing.T) {
	text, err := os.ReadFile("explanations.go")
	files := regexp.MustCompile(`(controller|informer)/[\w/]+\.go`).FindAllString(string(text), -1)
	if err != nil || len(files) < 20 {
		t.Fatalf("the lessons name %d files (%v)", len(files), err)
	}
	for _, file := range files {
		if _, err := os.Stat("../../../../../" + file); err != nil {
			t.Error(err)
		}
	}
}

// The lesson depends on the program's requests: none, none after a rejection, or the same write again and
// again.
func TestLessons(t *testing.T) {
	write := func(code int) Request {
		return Request{testkit.Request{Method: "POST", Target: testkit.Target{Resource: "deployments"}, Code: code}}
	}
	status := Request{testkit.Request{Method: "PUT", Target: testkit.Target{Resource: "foos", Name: "a", Subresource: "status"}, Code: 200}}
	read := Request{testkit.Request{Method: "GET", Target: testkit.Target{Resource: "deployments"}, Code: 200}}
	for _, test := range []struct {
		lesson, want *Lesson
		text         string
		requests     []Request
	}{
		{Absent, Untouched, "", []Request{read}},
		{Absent, gaveUp, "", []Request{write(201), write(503), read}},
		{Absent, gaveUp, "", []Request{write(0)}},
		{Absent, Absent, "", []Request{write(503), write(201)}},
		{Absent, createsAgain, "", []Request{write(409), write(409), write(409)}},
		{Absent, invalid, "", []Request{write(422), write(422), write(422)}},
		{wrongSpec, gaveUp, "", []Request{write(409)}},
		{wrongStatus, unread, "", []Request{status}},
		{wrongStatus, wrongStatus, "", []Request{read, status}},
		{LeftOver, LeftOver, "", []Request{write(403)}},
		{Noisy, noisyObject, "", []Request{status, write(200)}},
		{Noisy, Noisy, "", []Request{write(200), status}},
		{Exits, panics, "panic: x", nil},
		{Exits, tombstone, "panic: interface conversion: interface {} is cache.DeletedFinalStateUnknown", nil},
	} {
		if got := test.lesson.Given(test.text, test.requests); got != test.want {
			t.Errorf("%q: %q, want %q", test.lesson.why, got.why, test.want.why)
		}
	}
}
