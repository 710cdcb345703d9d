package look

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest/fake"

	"example.com/byhand/internal/observer"
)

// script is what passes a Glass, in the time of a bubble of package synctest, which begins anew for it.
type script struct {
	*Glass
	t       *testing.T
	began   time.Time
	printed bytes.Buffer
	answer  *bytes.Buffer // the last one
}

// play lets a script pass, and ends the Glass.
func play(t *testing.T, o Options, pass func(s *script)) *script {
	t.Helper()
	s := &script{}
	synctest.Test(t, func(t *testing.T) {
		var err error
		s.t = t
		if s.Glass, err = newGlass(o); err != nil {
			t.Fatal(err)
		}
		s.Print(observer.Flag{}, &s.printed)
		s.began = time.Now()
		pass(s)
		s.finish()
	})
	return s
}

// story is what was printed, without the times.
func (s *script) story() string {
	return regexp.MustCompile(`(?m)^[\d:.]+  `).ReplaceAllString(s.printed.String(), "")
}

// wait waits until so many milliseconds after the begin.
func (s *script) wait(ms int) {
	time.Sleep(time.Until(s.began.Add(time.Duration(ms) * time.Millisecond)))
}

// sends sends a request. A write is answered after more than a millisecond.
func (s *script) sends(ms int, method, address, body string, code int, answer string) (passed io.ReadCloser) {
	s.wait(ms)
	s.answer = bytes.NewBufferString(answer)
	s.next = fake.CreateHTTPClient(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			time.Sleep(1500 * time.Microsecond)
		}
		return &http.Response{StatusCode: code, Body: io.NopCloser(s.answer)}, nil
	}).Transport
	response, err := s.RoundTrip(httptest.NewRequest(method, address, strings.NewReader(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	return response.Body
}

// watches opens a watch, and returns what tells an event of it, and what ends it.
func (s *script) watches(ms int, address string) (event func(ms int, what, object string), end func(ms int)) {
	passed := s.sends(ms, http.MethodGet, address, "", http.StatusOK, "")
	told := s.answer
	return func(ms int, what, object string) {
			s.wait(ms)
			fmt.Fprintf(told, `{"type":%q,"object":%s}`+"\n", what, object)
			_, _ = io.Copy(io.Discard, passed)
		}, func(ms int) {
			s.wait(ms)
			_ = passed.Close()
		}
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
		pass func(s *script)
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
				_, end := s.watches(10_000*i+1, all+"?watch=1")
				end(10_000*i + 9_000)
			}
		}, map[string]int{"relist": 1}},
		"a stream of a list for nothing": {func(s *script) {
			for i := range 2 {
				_, end := s.watches(10_000*i, all+"?watch=1&sendInitialEvents=true")
				end(10_000*i + 9_000)
			}
		}, map[string]int{"relist": 1}},
		"a list after a 410, and by a program that began anew": {func(s *script) {
			for _, ms := range []int{0, 10_000, 30_000} {
				event, end := s.watches(ms, all+"?watch=1&sendInitialEvents=true")
				if ms == 0 {
					event(9_000, "ERROR", `{"kind":"Status","code":410,"message":"too old"}`)
				}
				end(ms + 9_000)
			}
		}, map[string]int{}},
		"short watches": {func(s *script) {
			for i := range 3 {
				_, end := s.watches(1000*i, all+"?watch=1&resourceVersion=1")
				end(1000*i + 200)
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
			event(1000, "MODIFIED", thing("w", "default", 3, "", mine+`,"deletionTimestamp":"1999-01-01T00:00:00Z"`))
		}, map[string]int{"finalizer-left": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, Options{}, test.pass)
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
			if allowed := play(t, Options{Allowed: slices.Collect(maps.Keys(test.want))}, test.pass); len(allowed.Findings()) > 0 {
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
