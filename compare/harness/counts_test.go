package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"example.com/byhand/internal/requests"
)

// The counts are those after a second without a write, and the last moment is known
// before which there was not yet one.
func TestSettled(t *testing.T) {
	for _, test := range []struct {
		reason   string
		writes   []int // at each look; then as the last
		atMost   time.Duration
		want     int
		busy     time.Duration // since the first look; 0: there was no write after it
		lastsFor time.Duration
	}{
		{"nothing comes", []int{5}, time.Minute, 5, 0, time.Second},
		{"one comes at once", []int{5, 6}, time.Minute, 6, -1, 1500 * time.Millisecond},
		{"they come for a while, with a pause", []int{5, 6, 6, 7, 9}, time.Minute, 9, 1500 * time.Millisecond, 3 * time.Second},
		{"they come for ever", []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, 2 * time.Second, 5, 1500 * time.Millisecond, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin, looks := time.Now(), 0
			now, busy, err := settle(t.Context(), test.atMost, func(context.Context) (requests.Counts, error) {
				looks++
				return requests.Counts{{Verb: "PUT", Resource: "foos", Subresource: "status", Code: "200"}: test.writes[min(looks, len(test.writes))-1]}, nil
			})
			var wantBusy time.Time
			switch {
			case test.busy < 0:
				wantBusy = begin
			case test.busy > 0:
				wantBusy = begin.Add(test.busy)
			}
			if err != nil || now.Writes().Sum() != test.want || !busy.Equal(wantBusy) || time.Since(begin) != test.lastsFor {
				t.Errorf("%s: %v, busy until %s, error %v, after %s; want %d, %s, none, after %s",
					test.reason, now, busy.Sub(begin), err, time.Since(begin), test.want, wantBusy.Sub(begin), test.lastsFor)
			}
		})
	}
}
