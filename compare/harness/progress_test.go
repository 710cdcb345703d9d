package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/internal/testkit/subprocess"
)

func newProgress() *progress { return &progress{marks: map[*mark]bool{}} }

func object(name, uid, version string, generation int64) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), ResourceVersion: version, Generation: generation}}
}

func TestHappenings(t *testing.T) {
	none, before := object("", "", "", 0), object("a", "u", "5", 1)
	for _, test := range []struct {
		reason       string
		before, now  *metav1.PartialObjectMetadata
		made, status bool
	}{
		{"new", none, before, true, false},
		{"the status", before, object("a", "u", "6", 1), false, true},
		{"the spec", before, object("a", "u", "6", 2), false, false},
		{"made again", before, object("a", "v", "6", 1), true, false},
		{"nothing", before, before, false, false},
	} {
		if got := [2]bool{made(test.before, test.now), statusWritten(test.before, test.now)}; got != [2]bool{test.made, test.status} {
			t.Errorf("%s: made, status written = %v", test.reason, got)
		}
	}
}

// A mark is reached when it has happened to each of its objects, at the moment of the
// last one; what happens to others, or again, changes nothing.
func TestMark(t *testing.T) {
	p := newProgress()
	m := p.expect(deployments, made, "a", "b")
	hear := func(second int64, resource schema.GroupVersionResource, name, uid string) {
		p.event(resource, &metav1.PartialObjectMetadata{}, object(name, uid, "1", 1), time.Unix(second, 0))
	}
	hear(1, deployments, "a", "u")
	hear(2, deployments, "other", "u")
	hear(2, foos, "b", "u")
	hear(4, deployments, "a", "v")
	if m.missing() != 1 {
		t.Fatalf("%d are missing, want 1", m.missing())
	}
	hear(5, deployments, "b", "u")

	at, err := p.await(t.Context(), nil, m)
	if err != nil || at.Unix() != 5 {
		t.Errorf("reached at %v, %v; want second 5", at, err)
	}
	if len(p.marks) != 0 {
		t.Error("a mark that was awaited is not forgotten")
	}
}

func TestAwaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tooLate := errors.New("too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, tooLate)
		defer cancel()
		p := newProgress()
		ended := make(chan struct{})
		close(ended)
		begin := time.Now()
		if _, err := p.await(ctx, ended, p.expect(foos, made, "a")); !errors.Is(err, subprocess.ErrEnded) || time.Since(begin) != 5*time.Second {
			t.Errorf("the program has ended: %v after %s", err, time.Since(begin))
		}
		if _, err := p.await(ctx, nil, p.expect(foos, made, "a")); !errors.Is(err, tooLate) || time.Since(begin) != time.Minute {
			t.Errorf("the time is over: %v after %s", err, time.Since(begin))
		}
	})
}
