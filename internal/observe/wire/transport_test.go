package wire_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observe/wire"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Both sides get the same bytes, and each message is reported. TestRoundTrip in tools/look uses protobuf.
func TestTransport(t *testing.T) {
	reset := errors.New("reset")
	const events = "one\ntwo\nthr"
	ofWatch := []string{"opened 200 ", "received 200 one", "received 200 two", "ended 200  EOF"}
	for name, test := range map[string]struct {
		exchange wire.Exchange
		code     int // 0: no response
		answer   io.Reader
		want     []string
	}{
		"a write":                {wire.Exchange{}, 201, strings.NewReader("made"), []string{"sent 0 body", "answered 201 made"}},
		"no answer":              {wire.Exchange{}, 0, nil, []string{"sent 0 body", "failed 0  reset"}},
		"a log":                  {wire.Exchange{Opaque: true}, 200, strings.NewReader("lines"), []string{"sent 0 ", "answered 200 "}},
		"a list":                 {wire.Exchange{Many: true}, 200, strings.NewReader("{}"), []string{"listed 200 {}"}},
		"a list that breaks off": {wire.Exchange{Many: true}, 200, io.MultiReader(strings.NewReader("{"), iotest.ErrReader(reset)), []string{"refused 200 { reset"}},
		"a refused list":         {wire.Exchange{Many: true}, 403, strings.NewReader("no"), []string{"refused 403 no"}},
		"a refused watch":        {wire.Exchange{Many: true, Watch: true}, 410, strings.NewReader("old"), []string{"refused 410 old"}},
		"a watch":                {wire.Exchange{Many: true, Watch: true}, 200, strings.NewReader(events), ofWatch},
		"a watch, byte by byte":  {wire.Exchange{Many: true, Watch: true}, 200, iotest.OneByteReader(strings.NewReader(events)), ofWatch},
	} {
		var told []string
		test.exchange.Tell = func(m wire.Message) {
			line := fmt.Sprintf("%s %d %s", m.What, m.Code, m.Body)
			if m.Err != nil {
				line += " " + m.Err.Error()
			}
			told = append(told, line)
		}
		var answered strings.Builder
		next := roundTripper(func(r *http.Request) (*http.Response, error) {
			if sent, err := io.ReadAll(r.Body); string(sent) != "body" || err != nil {
				t.Errorf("%s: the API server gets %q, %v", name, sent, err)
			}
			if test.code == 0 {
				return nil, reset
			}
			return &http.Response{StatusCode: test.code, Body: io.NopCloser(io.TeeReader(test.answer, &answered))}, nil
		})
		transport := &wire.Transport{Next: next, Read: func(*http.Request) *wire.Exchange { return &test.exchange }}
		response, err := transport.RoundTrip(httptest.NewRequest(http.MethodPut, "/", strings.NewReader("body")))
		if (err != nil) != (test.code == 0) {
			t.Errorf("%s: error %v", name, err)
		}
		if err == nil {
			got, err := io.ReadAll(response.Body)
			if breaks := strings.Contains(name, "breaks off"); string(got) != answered.String() || errors.Is(err, reset) != breaks {
				t.Errorf("%s: the program gets %q, %v, want %q", name, got, err, answered.String())
			}
			_ = response.Body.Close()
		}
		if diff := cmp.Diff(test.want, told); diff != "" {
			t.Errorf("%s: messages (-want +got):\n%s", name, diff)
		}
	}
}

// A watch may be closed while a Reflector waits for its next event (see make test-race).
func TestCloseWhileReading(t *testing.T) {
	body, events := io.Pipe()
	var mu sync.Mutex
	var told []string
	transport := &wire.Transport{
		Next: roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
		}),
		Read: func(*http.Request) *wire.Exchange {
			return &wire.Exchange{Many: true, Watch: true, Tell: func(m wire.Message) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprint(m.What, m.Err))
			}}
		},
	}
	response, err := transport.RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(io.Discard, response.Body) })
	_, _ = events.Write([]byte("one\n"))
	_ = response.Body.Close()
	reading.Wait()
	if len(told) != 3 || !slices.Contains(told, "ended<nil>") {
		t.Errorf("reported %q, want one event and one end", told)
	}
}
