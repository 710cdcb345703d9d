package look

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observer"
	"example.com/byhand/internal/trace"
)

// script is what passes a Glass, at times of its own.
type script struct {
	*Glass
	t       *testing.T
	printed bytes.Buffer
}

func newScript(t *testing.T, o Options) *script {
	t.Helper()
	s := &script{t: t}
	var err error
	if s.Glass, err = newGlass(o); err != nil {
		t.Fatal(err)
	}
	s.Print(observer.Flag{}, &s.printed)
	return s
}

// story is what was printed until the end, without the times.
func (s *script) story() string {
	return regexp.MustCompile(`(?m)^[\d:.]+  `).ReplaceAllString(s.printed.String(), "")
}

var began = time.Now().Add(-time.Hour)

func at(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

// open begins an exchange.
func (s *script) open(ms int, method, address string) *exchange {
	s.t.Helper()
	x := s.newExchange(httptest.NewRequest(method, address, nil))
	x.began = at(ms)
	return x
}

// tells tells what happened to it.
func (s *script) tells(ms int, x *exchange, what string, code int, body string) {
	s.Record(&trace.Step{What: what}, 0, func(step *trace.Step) {
		step.Time = at(ms)
		s.tell(note{x, step, code, []byte(body)})
	})
}

// sends sends a request, which is answered after a millisecond.
func (s *script) sends(ms int, method, address, body string, code int, answer string) {
	s.t.Helper()
	x := s.open(ms, method, address)
	x.sent = []byte(body)
	what := trace.Answered
	switch {
	case x.list && code == http.StatusOK:
		what = trace.Listed
	case x.list:
		what = trace.Refused
	case x.isWrite():
		s.world.wrote(x, decode([]byte(answer)))
	}
	s.tells(ms+1, x, what, code, answer)
}

// watches opens a watch, and returns what tells an event of it.
func (s *script) watches(ms int, address string) (event func(ms int, what, object string), x *exchange) {
	s.t.Helper()
	x = s.open(ms, http.MethodGet, address)
	s.tells(ms, x, trace.Opened, http.StatusOK, "")
	return func(ms int, what, object string) {
		s.tells(ms, x, trace.Received, http.StatusOK, fmt.Sprintf(`{"type":%q,"object":%s}`, what, object))
	}, x
}

// widget is an object in a version, with more fields.
func widget(version int, fields string) string { return thing("w", "default", version, fields, "") }

func thing(name, namespace string, version int, fields, metadata string) string {
	return fmt.Sprintf(`{"kind":"Widget","metadata":{"name":%q,"namespace":%q,"uid":"uid-%s","resourceVersion":"%d"%s}%s}`, name, namespace, name, version, metadata, fields)
}

const (
	all       = "/apis/example.com/v1/widgets"
	some      = "/apis/example.com/v1/namespaces/default/widgets"
	one       = some + "/w"
	conflict  = `{"kind":"Status","reason":"Conflict","message":"the object has been modified"}`
	forbidden = `{"kind":"Status","reason":"Forbidden","message":"exceeded quota"}`
)

// Each finding comes of what it is about, alone, and of nothing else.
func TestFindings(t *testing.T) {
	for name, test := range map[string]struct {
		play func(s *script)
		want map[string]int
	}{
		"a time stamp": {func(s *script) {
			for i := range 3 {
				s.sends(1000*i, "PATCH", one, `{}`, 200, widget(i+1, fmt.Sprintf(`,"spec":{"at":%d}`, i)))
			}
		}, map[string]int{"write-without-cause": 2}},
		"a write that had waited": {func(s *script) {
			event, _ := s.watches(0, some+"?watch=1")
			event(1, "ADDED", widget(1, ""))
			s.sends(1000, "PATCH", one, `{}`, 200, widget(2, `,"spec":{"n":1}`))
			s.sends(2000, "PATCH", one, `{}`, 200, widget(3, `,"spec":{"n":2}`))
		}, map[string]int{}},
		"two that undo each other": {func(s *script) {
			event, _ := s.watches(0, some+"?watch=1")
			for i := range 4 {
				event(1000*i, "MODIFIED", thing("w", "default", 2*i+1, `,"spec":{"size":1}`, fmt.Sprintf(`,"managedFields":[{"manager":"scaler","time":"2026-01-01T00:00:%02dZ","fieldsV1":{}}]`, i)))
				s.sends(1000*i+5, "PUT", one, widget(2*i+1, `,"spec":{"size":3}`), 200, widget(2*i+2, `,"spec":{"size":3}`))
			}
		}, map[string]int{"fight": 2}},
		"a conflict with itself": {func(s *script) {
			event, _ := s.watches(0, some+"?watch=1")
			event(1, "ADDED", widget(1, ""))
			s.sends(2, "PUT", one, widget(1, ""), 200, widget(2, `,"spec":{"a":1}`))
			s.sends(4, "PUT", one+"/status", widget(1, ""), 409, conflict)
		}, map[string]int{"own-conflict": 1}},
		"a conflict with another": {func(s *script) {
			event, _ := s.watches(0, some+"?watch=1")
			event(1, "ADDED", widget(1, ""))
			s.sends(2, "PUT", one, widget(1, ""), 409, conflict)
			event(3, "MODIFIED", widget(2, `,"spec":{"a":1}`))
			s.sends(4, "PUT", one, widget(2, ""), 200, widget(3, `,"spec":{"b":1}`))
		}, map[string]int{}},
		"refused again and again": {func(s *script) {
			for i := range 6 {
				s.sends(100*i, "POST", some, widget(0, ""), 403, forbidden)
			}
		}, map[string]int{"steady-retry": 2}},
		"refused, with a back-off": {func(s *script) {
			for i := range 8 {
				s.sends(5<<i, "POST", some, widget(0, ""), 403, forbidden)
			}
		}, map[string]int{}},
		"a list for nothing": {func(s *script) {
			for i := range 2 {
				s.sends(10_000*i, "GET", all, "", 200, `{"kind":"WidgetList","items":[]}`)
				_, x := s.watches(10_000*i+1, all+"?watch=1")
				s.tells(10_000*i+9_000, x, trace.Ended, 200, "")
			}
		}, map[string]int{"relist": 1}},
		"a stream of a list for nothing": {func(s *script) {
			for i := range 2 {
				_, x := s.watches(10_000*i, all+"?watch=1&sendInitialEvents=true")
				s.tells(10_000*i+9_000, x, trace.Ended, 200, "")
			}
		}, map[string]int{"relist": 1}},
		"a list after a 410, and by a program that began anew": {func(s *script) {
			for _, ms := range []int{0, 10_000, 30_000} {
				event, x := s.watches(ms, all+"?watch=1&sendInitialEvents=true")
				if ms == 0 {
					event(9_000, "ERROR", `{"kind":"Status","code":410,"message":"too old"}`)
				}
				s.tells(ms+9_000, x, trace.Ended, 200, "")
			}
		}, map[string]int{}},
		"short watches": {func(s *script) {
			for i := range 3 {
				_, x := s.watches(1000*i, all+"?watch=1&resourceVersion=1")
				s.tells(1000*i+200, x, trace.Ended, 200, "")
			}
		}, map[string]int{"short-watch": 2}},
		"a list and a GET of what it watches": {func(s *script) {
			event, _ := s.watches(0, all+"?watch=1")
			event(1, "ADDED", widget(1, ""))
			s.sends(2, "GET", some, "", 200, `{"kind":"WidgetList","items":[]}`)
			s.sends(4, "GET", one, "", 200, widget(1, ""))
			s.sends(6, "GET", some+"?limit=1", "", 200, `{"kind":"WidgetList","items":[]}`)
			s.sends(8, "GET", one, "", 200, widget(2, "")) // The watch has not told that.
		}, map[string]int{"list-of-watched": 1, "get-of-watched": 1}},
		"one after the other": {func(s *script) {
			for i := range 40 {
				s.sends(i, "POST", some, thing(fmt.Sprint(i), "default", 0, "", ""), 201, thing(fmt.Sprint(i), "default", i+1, "", ""))
			}
		}, map[string]int{}},
		"of all namespaces": {func(s *script) {
			event, _ := s.watches(0, all+"?watch=1")
			event(1, "ADDED", thing("other", "elsewhere", 1, "", ""))
			event(2, "ADDED", widget(2, ""))
			s.sends(3, "PUT", one, widget(2, ""), 200, widget(3, `,"spec":{"a":1}`))
		}, map[string]int{"all-namespaces": 1}},
		"all Secrets": {func(s *script) {
			s.watches(0, "/api/v1/secrets?watch=1&sendInitialEvents=true")
			s.watches(1, "/api/v1/namespaces/default/secrets?watch=1&sendInitialEvents=true")
		}, map[string]int{"all-secrets": 1}},
		"nobody's": {func(s *script) {
			event, _ := s.watches(0, some+"?watch=1")
			event(1, "ADDED", widget(1, ""))
			s.sends(2, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"labels":{"of":"w"}}}`, 201, thing("child", "default", 2, "", ""))
			event(1000, "DELETED", widget(3, ""))
		}, map[string]int{"no-owner": 1}},
		"its finalizer": {func(s *script) {
			event, _ := s.watches(0, some+"?watch=1")
			event(1, "ADDED", widget(1, ""))
			mine := `,"finalizers":["example.com/mine"]`
			s.sends(2, "PUT", one, widget(1, ""), 200, thing("w", "default", 2, "", mine))
			event(1000, "MODIFIED", thing("w", "default", 3, "", mine+`,"deletionTimestamp":"2026-01-01T00:00:00Z"`))
		}, map[string]int{"finalizer-left": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, Options{})
			test.play(s)
			s.finish()
			if test.want["fight"] > 0 && !strings.Contains(s.story(), "(because Widget default/w was changed, 5ms before), 3 times in a row; undone by scaler") {
				t.Errorf("nobody says who the other one is:\n%s", s.story())
			}
			var report bytes.Buffer
			var read struct{ Findings []Finding }
			if err := s.Report(&report); err != nil || json.Unmarshal(report.Bytes(), &read) != nil {
				t.Errorf("the report is %s, %v", &report, err)
			}
			found := map[string]int{}
			for _, f := range read.Findings {
				found[f.Name] = f.Count
				if len(f.Requests) != min(f.Count, mostRequests) || !strings.Contains(s.story(), "finding  "+f.Name+": "+f.Requests[0]) {
					t.Errorf("%s has the requests %q, and the story is:\n%s", f.Name, f.Requests, s.story())
				}
			}
			if diff := cmp.Diff(test.want, found); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, s.story())
			}
			allowed := newScript(t, Options{Allowed: slices.Collect(maps.Keys(test.want))})
			test.play(allowed)
			if allowed.finish(); len(allowed.Findings()) > 0 {
				t.Errorf("what is allowed is found: %v", allowed.Findings())
			}
		})
	}
	if _, err := newFindings(newWorld(), []string{"nothing"}); err == nil || !strings.Contains(err.Error(), "no-op-write") {
		t.Errorf("an unknown name: %v; want the names there are", err)
	}
}

// What does it right is there.
func TestRight(t *testing.T) {
	for _, f := range table {
		file, _, _ := strings.Cut(f.Right, ":")
		if _, err := os.Stat("../../" + strings.Split(file, ",")[0]); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
