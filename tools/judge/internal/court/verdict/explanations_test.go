package verdict

import (
	"os"
	"regexp"
	"testing"

	"example.com/byhand/kit/testkit"
)

// The files that the lessons name exist.
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

// The lesson is about what the program did: nothing, or nothing more after a refusal.
func TestLessons(t *testing.T) {
	write := func(code int) Request {
		return Request{testkit.Request{Method: "POST", Target: testkit.Target{Resource: "deployments"}, Code: code}}
	}
	read := Request{testkit.Request{Method: "GET", Target: testkit.Target{Resource: "deployments"}, Code: 200}}
	for _, test := range []struct {
		lesson, want *Lesson
		requests     []Request
	}{
		{Absent, Untouched, []Request{read}},
		{Absent, gaveUp, []Request{write(201), write(503), read}},
		{Absent, gaveUp, []Request{write(0)}},
		{Absent, Absent, []Request{write(503), write(201)}},
		{wrongSpec, gaveUp, []Request{write(409)}},
		{LeftOver, LeftOver, []Request{write(403)}},
	} {
		if got := test.lesson.Given(test.requests); got != test.want {
			t.Errorf("%v: %q, want %q", test.requests, got.why, test.want.why)
		}
	}
}
