package stage

import (
	"errors"
	"testing"
	"time"
)

// A step ends its stage at any depth, and deferred calls run. Any other panic is a bug of the judge.
func TestTry(t *testing.T) {
	refused, undone := errors.New("refused"), false
	err := Try(func() {
		defer func() { undone = true }()
		func() { Must(1, refused) }()
		t.Error("it goes on")
	})
	if err != refused || !undone {
		t.Errorf("the error is %v, and the deferred call has run: %t", err, undone)
	}
	if err := Try(func() { Check(nil) }); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() != "a mistake" {
			t.Error("a mistake ends the stage, and no more")
		}
	}()
	_ = Try(func() { panic("a mistake") })
}

// A wait ends if the program exits repeatedly.
func TestExitsEndAWait(t *testing.T) {
	s := &Stage{World: &World{}, Ctx: t.Context()}
	s.exits.Store(mostExits)
	if err := Try(func() { s.Await(time.Hour, func() bool { return false }) }); err != errShort {
		t.Errorf("the wait ends with %v", err)
	}
}
