package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"
)

// same means the same outcome as with client-go's Reflector.
var same outcome

// cases run with our parts and with client-go's. Both must have the same outcome, unless a case has a
// second one for client-go's Reflector. The README explains each difference.
var cases = []struct {
	name         string
	play         func(w *world)
	want, theirs outcome
}{
	{"watch", func(w *world) { w.start(); w.put("a", 1); w.put("a", 2); w.later(time.Second); w.Remove(foos + "a") },
		outcome{"add a1, a1→a2, delete a2", "STREAM", " at 104"}, same},
	{"resume", func(w *world) { w.again(0, nil); w.put("b", 1) },
		outcome{"first a1, add b1", "STREAM, WATCH after 102", "a1 b1 at 103"}, same},
	{"cut in the middle of a line", func(w *world) { w.again(1, sends("ADDED", "b", 103, cut)) },
		outcome{"first a1, add b1", "STREAM, WATCH after 102, WATCH after 103", "a1 b1 at 103"}, same},
	{"ended at once", func(w *world) {
		w.again(1, func(http.ResponseWriter, *http.Request) {
			time.AfterFunc(time.Second/2, func() { w.set("a", int64(2)) }) // in the pause
		})
	}, outcome{"first a1, a1→a2", "STREAM, WATCH after 102, STREAM after 102", "a2 at 103"}, same},
	{"unavailable", func(w *world) { w.again(1, unavailable) },
		outcome{"first a1, a1→a1", "STREAM, WATCH after 102, STREAM after 102", "a1 at 102"}, same},
	{"refused connection", func(w *world) { w.begin(); w.later(time.Minute); w.refused.Store(5); w.EndWatches("foos") },
		outcome{"first a1", "STREAM, WATCH after 102", "a1 at 102"}, same},
	{"expired at the start", func(w *world) { w.again(1, expired) },
		outcome{"first a1, a1→a1", "STREAM, WATCH after 102, STREAM after 102", "a1 at 102"}, same},
	{"expired inside the stream", func(w *world) {
		w.again(1, func(rw http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(rw, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`)
		})
	}, outcome{"first a1, a1→a1", "STREAM, WATCH after 102, STREAM after 102", "a1 at 102"}, same},
	{"expired for a list, too", func(w *world) { w.again(2, expired) },
		outcome{"first a1, a1→a1", "STREAM, WATCH after 102, STREAM after 102, STREAM", "a1 at 102"}, same},
	{"expired in a loop", func(w *world) { w.answer(20, expired); w.begin(); w.put("a", 2); w.later(10 * time.Minute) },
		outcome{"first a2", "STREAM, LIST, STREAM, LIST, STREAM, LIST", "a2 at 103"},
		outcome{"first a1, a1→a2", "STREAM, WATCH after 103", ""}},
	{"deletion missed", func(w *world) {
		w.put("b", 1)
		w.again(1, func(rw http.ResponseWriter, r *http.Request) { w.Remove(foos + "b"); expired(rw, r) })
	}, outcome{"first a1, first b1, a1→a1, lost b1", "STREAM, WATCH after 103, STREAM after 103", "a1 at 104"}, same},
	{"replaced by one of the same name", func(w *world) {
		w.again(1, func(rw http.ResponseWriter, r *http.Request) {
			w.Remove(foos + "a")
			w.set("a", int64(2))
			expired(rw, r)
		})
	}, outcome{"first a1, a1→a2", "STREAM, WATCH after 102, STREAM after 102", "a2 at 104"}, same},
	{"undecodable object", func(w *world) { w.begin(); w.set("b", "three"); w.put("a", 2); w.later(time.Minute); w.put("b", 3) },
		outcome{"first a1, a1→a2, add b3", "STREAM, STREAM after 102, LIST after 102, STREAM after 102, LIST after 102, STREAM after 102", "a2 b3 at 105"}, same},
	{"bookmark without a version", func(w *world) {
		w.put("b", 1)
		w.again(1, func(rw http.ResponseWriter, r *http.Request) {
			says(`{"type":"BOOKMARK","object":{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo"}}`)(rw, r)
			w.Remove(foos + "b")
		})
	}, outcome{"first a1, first b1, delete b1", "STREAM, WATCH after 103", "a1 at 104"},
		outcome{"first a1, first b1, a1→a1", "STREAM, WATCH after 103, WATCH", "a1 b1 at 103"}},
	// A stream after a version that the server does not have yet is rejected: request the newest.
	{"server that lags behind", func(w *world) {
		w.again(1, sends("BOOKMARK", "", 106, done))
		w.answer(12, func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("sendInitialEvents") {
				tooLarge(rw, r)
			} else {
				expired(rw, r)
			}
		})
		w.EndWatches("foos")
	}, outcome{"first a1, a1→a1", "STREAM, WATCH after 102, WATCH after 106, STREAM after 106, STREAM", "a1 at 102"}, same},
	// A watch after such a version is accepted: it sends nothing until the server has reached the version.
	{"restored from a backup", func(w *world) {
		w.again(1, sends("BOOKMARK", "", 106, done))
		w.Remove(foos + "a")
		w.put("b", 1)
		w.later(24 * time.Hour)
		w.put("b", 2)
		w.put("b", 3)
		w.put("b", 4)
		w.later(10 * time.Minute)
		w.calls = slices.DeleteFunc(w.calls, func(call []string) bool { return call[2] == "a1→a1" }) // resyncs
	}, outcome{"first a1, add b4", "STREAM, WATCH after 102, WATCH after 106, WATCH after 107", "a1 b4 at 107"}, same},
	// The pause doubles with each 429. After a watch of minutes it resets: b arrives in time.
	{"busy", func(w *world) {
		w.again(1000, busy)
		w.later(10 * time.Minute)
		if n := len(w.Faults.Log()); n > 60 {
			w.Errorf("%d requests in 11 minutes", n)
		}
		w.answer(0, nil)
		w.later(3 * time.Minute)
		w.answer(1, busy)
		w.EndWatches("foos")
		w.put("b", 1)
		w.later(time.Second)
		w.end()
	}, outcome{"first a1, add b1", "STREAM, WATCH after 102", "a1 b1 at 103"}, same},
	{"streaming list refused", func(w *world) { w.answer(1, noStream); w.begin() },
		outcome{"first a1", "STREAM, LIST, WATCH after 102", "a1 at 102"}, outcome{"", "STREAM, LIST after 0, WATCH after 102", ""}},
	{"list cut", func(w *world) { w.answer(2, onlyLists(cut)); w.begin() },
		outcome{"first a1", "STREAM, LIST, STREAM", "a1 at 102"}, outcome{"", "STREAM, LIST after 0, STREAM", ""}},
	{"streaming list cut", func(w *world) { w.answer(1, sends("ADDED", "half", 101, cut)); w.begin() },
		outcome{"first a1", "STREAM, LIST, WATCH after 102", "a1 at 102"}, outcome{"", "STREAM", ""}},
	{"a first list that never ends", func(w *world) {
		w.answer(1, sends("ADDED", "half", 101, func(_ http.ResponseWriter, r *http.Request) {
			seconds, _ := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
			time.Sleep(time.Duration(seconds) * time.Second)
		}))
		w.begin()
		w.later(20 * time.Minute)
	}, outcome{"first a1", "STREAM, LIST, WATCH after 102", "a1 at 102"}, outcome{"", "STREAM, WATCH after 102", ""}},
	{"ended right after its list", func(w *world) { w.begin(); w.later(900 * time.Millisecond); w.EndWatches("foos") },
		outcome{"first a1", "STREAM, WATCH after 102", "a1 at 102"}, outcome{"first a1, a1→a1", "STREAM, STREAM after 102", ""}},
	{"resync", func(w *world) { w.begin(); w.later(65 * time.Minute) },
		outcome{"first a1, a1→a1", "STREAM, WATCH after 102", "a1 at 102"}, same},
	{"slow handler", func(w *world) {
		slow, quick := w.add("slow ", time.Hour), w.add("quick ", 0)
		w.begin()
		w.put("a", 2)
		w.later(time.Second)
		w.Remove(foos + "a")
		w.later(time.Second)
		if slow.HasSynced() || !quick.HasSynced() {
			w.Errorf("the slow handler has synced: %t, the quick one: %t", slow.HasSynced(), quick.HasSynced())
		}
	}, outcome{"first a1, a1→a2, delete a2, quick first a1, quick a1→a2, quick delete a2, slow first a1", "STREAM", " at 104, not at once"}, same},
	{"late handler", func(w *world) {
		w.begin()
		w.put("a", 2)
		late := w.add("late ", 0)
		if w.put("a", 3); !late.HasSynced() {
			w.Errorf("the late handler has not synced")
		}
		w.later(time.Second)
		w.answer(1, func(rw http.ResponseWriter, r *http.Request) { w.Remove(foos + "a"); expired(rw, r) })
		w.EndWatches("foos")
	}, outcome{"first a1, a1→a2, a2→a3, lost a3, late first a2, late a2→a3, late lost a3", "STREAM, WATCH after 104, STREAM after 104", " at 105"}, same},
	// SIGTERM outside a watch. Most cases end in a watch.
	{"stopped in the pause after 429", func(w *world) { w.answer(1, busy); w.start(); w.end() },
		outcome{"", "STREAM", " at "}, outcome{"", "", " at , not at once"}},
}

func TestStories(t *testing.T) {
	for _, test := range cases {
		for _, swapped := range []clientGo{"", "store", "fifo", "fifo,store", "reflector", "reflector,fifo,store", "shared"} {
			t.Run(test.name+"/client-go="+string(swapped), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, swapped)
					w.add("", 0)
					test.play(w)
					w.later(2 * time.Minute)
					w.end()
					want, theirs := test.want, test.theirs
					if swapped.has("reflector") || swapped.has("shared") {
						want = outcome{cmp.Or(theirs.calls, want.calls), cmp.Or(theirs.requests, want.requests), cmp.Or(theirs.end, want.end)}
					}
					if diff := gocmp.Diff(want, w.outcome(), gocmp.AllowUnexported(want)); diff != "" {
						t.Errorf("-want +got:\n%s", diff)
					}
					if _, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err == nil {
						t.Error("a handler may join after the end")
					}
				})
			})
		}
	}
}
