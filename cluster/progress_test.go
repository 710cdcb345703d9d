package main

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress(t *testing.T) {
	for _, test := range []struct {
		reason string
		of     int
		want   string
	}{
		{"of so many", 5, "0 of 5, 5s, now linking\n2 of 5, 10s, now two\n2 of 5, 15s, now two\n3 of 5, 16s\n"},
		{"nobody knows of how many", 0, "2 of 0, 10s, now two\n2 of 0, 15s, now two\n3 of 0, 16s\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := progress{out: &out, format: "%[1]d of %[2]d, %[3]s", of: test.of}
			finish := p.begin("linking")
			time.Sleep(printEvery + time.Second)
			p.step("one")
			p.step("two")
			time.Sleep(2*printEvery - time.Second)
			synctest.Wait()
			time.Sleep(time.Second)
			p.step("three")
			finish()
			if out.String() != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, out.String(), test.want)
			}
		})
	}

	// Nothing was done: nothing to say.
	var out bytes.Buffer
	p := progress{out: &out, format: "%d of %d, %s"}
	p.begin("")()
	if out.Len() > 0 {
		t.Errorf("got %q, want nothing", &out)
	}
	// What is not a terminal is not written over.
	if file, err := os.Open(t.TempDir()); err != nil || isTerminal(file) {
		t.Errorf("a file counts as a terminal (%v)", err)
	}
}
