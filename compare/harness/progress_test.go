package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/testkit/subprocess"
)

func object(name, version string, generation int64) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version, Generation: generation}}
}

func TestIsStatusWritten(t *testing.T) {
	for reason, now := range map[string]*metav1.PartialObjectMetadata{
		"the status": object("a", "6", 1), "the spec": object("a", "6", 2), "nothing": object("a", "5", 1),
	} {
		if is := isStatusWritten(object("a", "5", 1), now); is != (reason == "the status") {
			t.Errorf("%s has changed: %t", reason, is)
		}
	}
}

// What is awaited has happened when it did to each of the names, at the first time of the last one;
// what happens to others, or again, changes nothing. Whoever waits gives up in the end.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begin, names := &progress{made: times{}, status: times{}}, time.Now(), []string{"a", "b"}
		for _, name := range []string{"a", "other", "b", "a", "other"} {
			time.Sleep(time.Second)
			p.note(p.made, object(name, "1", 1))
		}
		if at, err := p.await(t.Context(), nil, names, p.made); err != nil || at.Sub(begin) != 3*time.Second {
			t.Errorf("after %s, %v; want 3 s", at.Sub(begin), err)
		}

		tooLate := errors.New("too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, tooLate)
		defer cancel()
		ended := make(chan struct{})
		close(ended)
		begin = time.Now()
		if _, err := p.await(ctx, ended, names, p.made, p.status); !errors.Is(err, subprocess.ErrEnded) || time.Since(begin) != 5*time.Second {
			t.Errorf("the program has ended: %v after %s", err, time.Since(begin))
		}
		if _, err := p.await(ctx, nil, names, p.made, p.status); !errors.Is(err, tooLate) || time.Since(begin) != time.Minute {
			t.Errorf("the time is over: %v after %s", err, time.Since(begin))
		}
	})
}
