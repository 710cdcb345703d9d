package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest/fake"

	"example.com/byhand/internal/observe/observer"
)

// script sends requests through a Proxy, in the time of a synctest bubble.
type script struct {
	*Proxy
	t       *testing.T
	began   time.Time
	printed bytes.Buffer
	asked   string        // Accept header of the last request
	answer  *bytes.Buffer // to it
}

// play runs a script and closes the Proxy. A replay of its recording must have the same log and
// findings.
func play(t *testing.T, o Options, pass func(s *script)) *script {
	t.Helper()
	s := &script{}
	var recording, printed bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		var err error
		s.t = t
		if s.Proxy, err = newProxy(o); err != nil {
			t.Fatal(err)
		}
		s.RecordTo(&recording)
		s.Print(observer.Flag{}, &s.printed)
		s.began = time.Now()
		pass(s)
		s.finish()
	})
	if o.Role != "" {
		return s
	}
	again, err := Replay(&recording, o, &printed)
	if err != nil {
		t.Fatal(err)
	}
	live, replayed := strings.Split(s.log(), "\n"), strings.Split((&script{printed: printed}).log(), "\n")
	slices.Sort(live) // A live proxy logs findings later than a replay.
	slices.Sort(replayed)
	if diff := cmp.Diff(live, replayed); diff != "" {
		t.Errorf("the recording says something else (-live +replayed):\n%s", diff)
	}
	if diff := cmp.Diff(s.Findings(), again.Findings()); diff != "" {
		t.Errorf("the recording has other findings (-live +replayed):\n%s", diff)
	}
	return s
}

// log returns the printed log, without times and without look's own remarks.
func (s *script) log() string {
	return regexp.MustCompile(`(?m)^[\d:.]+  (look .*\n)?`).ReplaceAllString(s.printed.String(), "")
}

// wait waits until ms milliseconds after the start.
func (s *script) wait(ms int) {
	time.Sleep(time.Until(s.began.Add(time.Duration(ms) * time.Millisecond)))
}

// passes sends a request through the Proxy. A write takes more than a millisecond; code 0 gives no
// response.
func (s *script) passes(r *http.Request, code int, answer string) (*http.Response, error) {
	s.answer = bytes.NewBufferString(answer)
	s.next = fake.CreateHTTPClient(func(r *http.Request) (*http.Response, error) {
		s.asked = r.Header.Get("Accept")
		if r.Method != http.MethodGet {
			time.Sleep(1500 * time.Microsecond)
		}
		if code == 0 {
			return nil, errors.New("nobody is there")
		}
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {s.asked}}, Body: io.NopCloser(s.answer)}, nil
	}).Transport
	return s.RoundTrip(r)
}

func (s *script) sends(ms int, method, address, body string, code int, answer string) (passed io.ReadCloser) {
	s.wait(ms)
	response, err := s.passes(httptest.NewRequest(method, address, strings.NewReader(body)), code, answer)
	if err != nil {
		s.t.Error(err)
		return http.NoBody
	}
	return response.Body
}

// watches opens a watch, and returns functions that deliver an event and end the watch.
func (s *script) watches(ms int, address string) (event func(ms int, what, object string), end func(ms int)) {
	passed := s.sends(ms, http.MethodGet, address, "", http.StatusOK, "")
	told := s.answer
	return func(ms int, what, object string) {
			s.wait(ms)
			fmt.Fprintf(told, `{"type":%q,"object":%s}`+"\n", what, object)
			_, _ = io.ReadFull(passed, make([]byte, told.Len()))
		}, func(ms int) {
			s.wait(ms)
			_ = passed.Close()
		}
}

func widget(version int, fields string) string { return thing("w", "default", version, fields, "") }

func thing(name, namespace string, version int, fields, metadata string) string {
	return fmt.Sprintf(`{"kind":"Widget","metadata":{"name":%q,"namespace":%q,"uid":"uid-%s","resourceVersion":"%d"%s}%s}`, name, namespace, name, version, metadata, fields)
}

const (
	all      = "/apis/example.com/v1/widgets"
	some     = "/apis/example.com/v1/namespaces/default/widgets"
	one      = some + "/w"
	conflict = `{"kind":"Status","reason":"Conflict","message":"the object has been modified"}`
)

// Each finding is reported for its fault, and for nothing else. A watch has delivered a Widget before.
func TestFindings(t *testing.T) {
	const list, mine = `{"kind":"WidgetList","items":[]}`, `,"finalizers":["example.com/mine"]`
	for name, test := range map[string]struct {
		pass func(s *script, event func(ms int, what, object string))
		want map[string]int
	}{
		"conflicts with another, and with itself": {func(s *script, event func(int, string, string)) {
			s.sends(2, "PUT", one, widget(1, ""), 409, conflict)
			event(4, "MODIFIED", widget(2, `,"spec":{"a":1}`))
			s.sends(5, "PUT", one, widget(2, ""), 200, widget(3, `,"spec":{"b":1}`))
			s.sends(7, "PUT", one+"/status", widget(2, ""), 409, conflict)
		}, map[string]int{"own-conflict": 1}},
		"refused, with a back-off and without": {func(s *script, _ func(int, string, string)) {
			for i := range 8 {
				s.sends(5<<i, "POST", some, thing("a", "default", 0, "", ""), 403, `{}`)
			}
			for i := range 12 {
				s.sends(1000+(190-7*i)*i, "POST", some, thing("b", "default", 0, "", ""), 403, `{}`)
			}
			for i := range 5 {
				s.sends(3000+500*i, "POST", some, thing("c", "default", 0, "", ""), 403, `{}`)
			}
		}, map[string]int{"steady-retry": 2}},
		"one after the other": {func(s *script, _ func(int, string, string)) {
			for i := range 40 {
				s.sends(2*i+2, "POST", some, thing(fmt.Sprint(i), "default", 0, "", ""), 201, thing(fmt.Sprint(i), "default", i+2, "", ""))
			}
		}, map[string]int{}},
		"reads": {func(s *script, _ func(int, string, string)) {
			s.sends(2, "GET", one, "", 200, widget(1, ""))
			s.sends(3, "GET", one, "", 200, widget(2, "")) // The watch has not delivered this version.
			s.sends(4, "GET", some+"?limit=1", "", 200, list)
			s.sends(5, "GET", some, "", 200, list)
			s.watches(6, "/api/v1/secrets?watch=1&sendInitialEvents=true")
			s.watches(7, "/api/v1/namespaces/default/secrets?watch=1&sendInitialEvents=true")
			for i := range 2 {
				s.sends(10_000*i+10, "GET", all, "", 200, list)
				_, end := s.watches(10_000*i+11, all+"?watch=1")
				end(10_000*i + 9_000)
			}
			// The second begins after a 410, the fourth after a pause as long as a restart.
			for _, ms := range []int{20_000, 30_000, 40_000, 60_000} {
				event, end := s.watches(ms, all+"?watch=1&sendInitialEvents=true&labelSelector=a")
				if ms == 20_000 {
					event(ms+9_000, "ERROR", `{"kind":"Status","code":410}`)
				}
				end(ms + 9_000)
			}
			for i := range 3 {
				_, end := s.watches(70_000+1000*i, all+"?watch=1&resourceVersion=1")
				end(70_200 + 1000*i)
			}
		}, map[string]int{"list-of-watched": 1, "get-of-watched": 1, "all-secrets": 1, "relist": 2, "short-watch": 2}},
		"what is left": {func(s *script, event func(int, string, string)) {
			s.sends(2, "POST", "/api/v1/namespaces/default/configmaps", `{"data":{"of":"w"}}`, 201, thing("child", "default", 2, `,"data":{"of":"w"}`, ""))
			event(4, "DELETED", widget(3, ""))
			event, _ = s.watches(5, all+"?watch=1")
			event(6, "ADDED", thing("other", "elsewhere", 4, "", ""))
			event(7, "ADDED", thing("a", "default", 5, "", ""))
			s.sends(7, "GET", "/apis/example.com/v1/namespaces/elsewhere/widgets/other", "", 200, thing("other", "elsewhere", 4, "", ""))
			s.sends(8, "PUT", some+"/a", `{}`, 200, thing("a", "default", 6, "", mine))
			event(10, "MODIFIED", thing("a", "default", 7, "", mine+`,"deletionTimestamp":"1999-01-01T00:00:00Z"`))
		}, map[string]int{"get-of-watched": 1, "no-owner": 1, "finalizer-left": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			pass := func(s *script) {
				event, _ := s.watches(0, some+"?watch=1")
				event(1, "ADDED", widget(1, ""))
				test.pass(s, event)
			}
			s := play(t, Options{}, pass)
			found := map[string]int{}
			for _, f := range s.Findings() {
				found[f.Name] = f.Count
				if len(f.Requests) != f.Count || !strings.Contains(s.log(), "finding  "+f.Name+": "+f.Requests[0]) {
					t.Errorf("%s has the requests %q, and the log is:\n%s", f.Name, f.Requests, s.log())
				}
			}
			if diff := cmp.Diff(test.want, found); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, s.log())
			}
			if allowed := play(t, Options{Allowed: slices.Collect(maps.Keys(test.want))}, pass); len(allowed.Findings()) > 0 {
				t.Errorf("allowed findings are reported: %v", allowed.Findings())
			}
		})
	}
}

// Permissions that a role grants, but no request used, are reported.
func TestRole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "role.yaml")
	if err := os.WriteFile(file, []byte(`
kind: ClusterRole
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, create, update, patch, delete]}
- {apiGroups: [apps], resources: [deployments/status, deployments/finalizers], verbs: [update]}
- {nonResourceURLs: [/metrics], verbs: [get]}
---
kind: Role
rules:
- {apiGroups: [""], resources: [pods, secrets], verbs: ["*"]}
- {apiGroups: [""], resources: [events], verbs: [create]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	const all = "/apis/apps/v1/namespaces/a/deployments"
	s := play(t, Options{Role: file}, func(s *script) {
		s.sends(0, "GET", all, "", 200, "")
		s.sends(1, "GET", all+"?watch=1", "", 200, "")
		s.sends(2, "PATCH", all+"/a", "", 201, "")
		s.sends(4, "PUT", all+"/a/status", "", 200, "")
		s.sends(6, "DELETE", "/api/v1/pods", "", 200, "")
		s.sends(8, "POST", "/api/v1/namespaces/a/events", "", 201, "")
	})
	want := []string{"get deployments in the API group apps", "update deployments in the API group apps", "delete deployments in the API group apps", `* secrets in the API group ""`}
	if found := s.Findings(); len(found) != 1 || found[0].Name != "unused-permission" || !cmp.Equal(found[0].Requests, want) {
		t.Errorf("found %v, want the unused permissions %q", found, want)
	}
}

func TestAdviceNamesExistingFiles(t *testing.T) {
	for _, f := range table {
		_, see, _ := strings.Cut(f.Advice, " See ")
		file := strings.FieldsFunc(see, func(r rune) bool { return strings.ContainsRune(":,", r) })
		if _, err := os.Stat("../../../" + file[0]); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
