package testkit_test

import (
	"fmt"
	"runtime"
	"testing"
)

type fakeT struct {
	testing.TB
	cleanups            []func()
	failed              bool
	complained, printed string
}

func (f *fakeT) Cleanup(do func())       { f.cleanups = append(f.cleanups, do) }
func (f *fakeT) Failed() bool            { return f.failed }
func (f *fakeT) Logf(s string, a ...any) { f.printed += fmt.Sprintf(s, a...) }
func (f *fakeT) Errorf(s string, a ...any) {
	f.failed, f.complained = true, f.complained+fmt.Sprintf(s, a...)
}
func (f *fakeT) Fatalf(s string, a ...any) {
	f.Errorf(s, a...)
	runtime.Goexit()
}

func playTest(t *testing.T, test func(t *fakeT)) *fakeT {
	f, done := &fakeT{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	for _, cleanup := range f.cleanups {
		cleanup()
	}
	return f
}
