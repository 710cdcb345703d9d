package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/internal/testkit"
)

// What a server answers, by the script of a story.

var (
	expired  = refuse(apierrors.NewResourceExpired("too old resource version"))
	busy     = refuse(apierrors.NewTooManyRequestsError("later"))
	noStream = refuse(apierrors.NewInvalid(schema.GroupKind{}, "sendInitialEvents", nil))
)

func refuse(err apierrors.APIStatus) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { testkit.WriteError(rw, err) }
}

// event sends one event.
func event(rw http.ResponseWriter, what, name string, version int) {
	fmt.Fprintf(rw, `{"type":%q,"object":{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo",`+
		`"metadata":{"namespace":"default","name":%q,"resourceVersion":"%d"},"spec":{"replicas":1}}}`+"\n", what, name, version)
	_ = http.NewResponseController(rw).Flush()
}

// cut breaks the connection after half a line.
func cut(rw http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(rw, `{"type":"ADDED","object":{"kind":"Foo","apiVers`)
	panic(http.ErrAbortHandler)
}

// onlyLists refuses a stream, and answers a list so.
func (w *world) onlyLists(answer http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(w.describe(r), "STREAM") {
			noStream(rw, r)
		} else {
			answer(rw, r)
		}
	}
}

// again begins with one Foo. Later the watch ends, and this is the answer to the next n
// requests.
func (w *world) again(n int, answer http.HandlerFunc) {
	w.put("a", 1)
	w.start()
	w.later(time.Minute)
	w.answer(n, answer)
	w.EndWatches("foos")
	w.later(time.Minute)
}

// stories are played to our parts and to client-go's. The handler must hear the same, the
// store must have the same, up to the same version, and the requests must be the same, except
// theirs: those of client-go's Reflector. The README has a reason for each of these.
var stories = []struct {
	name                                         string
	play                                         func(w *world)
	calls, requests, store, theirs, theirHandler string
}{
	{"list", func(w *world) { w.put("a", 1); w.put("b", 1); w.start() }, "first a1, first b1", "STREAM", "a1 b1 at 2", "", ""},
	{"watch", func(w *world) { w.start(); w.put("a", 1); w.put("a", 2); w.later(time.Second); w.Remove(foos + "a") },
		"add a1, a1→a2, delete a2", "STREAM", " at 3", "", ""},
	{"resume", func(w *world) { w.again(0, nil); w.put("b", 1) },
		"first a1, add b1", "STREAM, WATCH after 1", "a1 b1 at 2", "", ""},
	{"cut in the middle of a line", func(w *world) {
		w.again(1, func(rw http.ResponseWriter, r *http.Request) { event(rw, "ADDED", "b", w.first+2); cut(rw, r) })
	}, "first a1, add b1", "STREAM, WATCH after 1, WATCH after 2", "a1 b1 at 2", "", ""},
	{"ended at once", func(w *world) { w.again(1, func(http.ResponseWriter, *http.Request) {}) },
		"first a1, a1→a1", "STREAM, WATCH after 1, STREAM after 1", "a1 at 1", "", ""},
	{"expired at the start", func(w *world) { w.again(1, expired) },
		"first a1, a1→a1", "STREAM, WATCH after 1, STREAM after 1", "a1 at 1", "", ""},
	{"expired inside the stream", func(w *world) {
		w.again(1, func(rw http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(rw, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`)
		})
	}, "first a1, a1→a1", "STREAM, WATCH after 1, STREAM after 1", "a1 at 1", "", ""},
	{"expired for a list, too", func(w *world) { w.again(2, expired) },
		"first a1, a1→a1", "STREAM, WATCH after 1, STREAM after 1, STREAM", "a1 at 1", "", ""},
	{"expired for a list that is no stream", func(w *world) { w.again(3, w.onlyLists(expired)) },
		"first a1, a1→a1", "STREAM, WATCH after 1, STREAM after 1, LIST after 1, LIST, WATCH after 1", "a1 at 1", "", ""},
	{"expired in a loop", func(w *world) {
		w.answer(20, expired)
		w.put("a", 1)
		w.start()
		w.put("a", 2)
		w.later(10 * time.Minute)
	},
		"first a2", "STREAM, LIST, STREAM, LIST, STREAM, LIST", "a2 at 2", "STREAM, WATCH after 2", "first a1, a1→a2"},
	{"deletion missed", func(w *world) {
		w.put("b", 1)
		w.again(1, func(rw http.ResponseWriter, r *http.Request) { w.Remove(foos + "b"); expired(rw, r) })
	}, "first a1, first b1, a1→a1, lost b1", "STREAM, WATCH after 2, STREAM after 2", "a1 at 3", "", ""},
	{"replaced by one of the same name", func(w *world) {
		w.again(1, func(rw http.ResponseWriter, r *http.Request) {
			w.Remove(foos + "a")
			w.set("a", int64(2))
			expired(rw, r)
		})
	}, "first a1, a1→a2", "STREAM, WATCH after 1, STREAM after 1", "a2 at 3", "", ""},
	{"undecodable object", func(w *world) {
		w.put("a", 1)
		w.start()
		w.set("b", "three")
		w.put("a", 2)
		w.later(time.Minute)
		w.put("b", 3)
	}, "first a1, a1→a2, add b3", "STREAM, STREAM after 1, LIST after 1, STREAM after 1, LIST after 1, STREAM after 1", "a2 b3 at 4", "", ""},
	{"bookmarks", func(w *world) {
		w.again(1, func(rw http.ResponseWriter, _ *http.Request) { event(rw, "BOOKMARK", "", w.first+5) })
	}, "first a1", "STREAM, WATCH after 1, WATCH after 5", "a1 at 5", "", ""},
	{"busy", func(w *world) {
		w.again(3, busy)
		w.put("b", 1)
		w.answer(1000, busy)
		w.EndWatches("foos")
		w.put("c", 1)
	}, "first a1, add b1", "STREAM, WATCH after 1, WATCH after 2", "a1 b1 at 2", "", ""},
	{"streaming list refused", func(w *world) { w.answer(1, noStream); w.put("a", 1); w.start() },
		"first a1", "STREAM, LIST, WATCH after 1", "a1 at 1", "STREAM, LIST of any version, WATCH after 1", ""},
	{"list cut", func(w *world) { w.answer(2, w.onlyLists(cut)); w.put("a", 1); w.start() },
		"first a1", "STREAM, LIST, STREAM", "a1 at 1", "STREAM, LIST of any version, STREAM", ""},
	{"streaming list cut", func(w *world) {
		w.answer(1, func(rw http.ResponseWriter, r *http.Request) { event(rw, "ADDED", "half", w.first); cut(rw, r) })
		w.put("a", 1)
		w.start()
	}, "first a1", "STREAM, LIST, WATCH after 1", "a1 at 1", "STREAM", ""},
	{"a first list that never ends", func(w *world) {
		w.answer(1, func(rw http.ResponseWriter, r *http.Request) {
			event(rw, "ADDED", "half", w.first)
			seconds, _ := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
			time.Sleep(time.Duration(seconds) * time.Second)
		})
		w.put("a", 1)
		w.start()
		w.later(20 * time.Minute)
	}, "first a1", "STREAM, LIST, WATCH after 1", "a1 at 1", "STREAM, WATCH after 1", ""},
	{"ended right after its list", func(w *world) { w.put("a", 1); w.start(); w.later(900 * time.Millisecond); w.EndWatches("foos") },
		"first a1", "STREAM, WATCH after 1", "a1 at 1", "STREAM, STREAM after 1", "first a1, a1→a1"},
	{"resync", func(w *world) { w.put("a", 1); w.start(); w.later(65 * time.Minute) },
		"first a1, a1→a1", "STREAM, WATCH after 1", "a1 at 1", "", ""},
	{"slow handler", func(w *world) {
		slow, quick := w.add("slow ", time.Hour), w.add("quick ", 0)
		w.put("a", 1)
		w.start()
		w.put("a", 2)
		w.later(time.Second)
		w.Remove(foos + "a")
		w.later(time.Second)
		if slow.HasSynced() || !quick.HasSynced() {
			w.Errorf("the slow handler has synced: %t, the quick one: %t", slow.HasSynced(), quick.HasSynced())
		}
	}, "first a1, a1→a2, delete a2, quick first a1, quick a1→a2, quick delete a2, slow first a1", "STREAM", " at 3", "", ""},
	{"late handler", func(w *world) {
		w.put("a", 1)
		w.start()
		w.put("a", 2)
		late := w.add("late ", 0)
		if w.put("a", 3); !late.HasSynced() {
			w.Errorf("the late handler has not synced")
		}
	}, "first a1, a1→a2, a2→a3, late first a2, late a2→a3", "STREAM", "a3 at 3", "", ""},
}

func TestStories(t *testing.T) {
	for _, story := range stories {
		for _, swapped := range []clientGo{"", "store", "fifo", "fifo,store", "reflector", "reflector,fifo,store", "shared"} {
			t.Run(story.name+"/client-go="+string(swapped), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, swapped)
					w.add("", 0)
					story.play(w)
					w.later(2 * time.Minute)
					w.end()
					want := []string{story.calls, story.requests, story.store}
					if swapped.has("reflector") || swapped.has("shared") {
						want[0], want[1] = cmp.Or(story.theirHandler, story.calls), cmp.Or(story.theirs, story.requests)
					}
					if diff := gocmp.Diff(want, w.outcome()); diff != "" {
						t.Errorf("calls, requests, store (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}
