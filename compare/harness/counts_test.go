package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// The wait ends after a second without a write, and the last moment is known before which the
// last write was still to come.
func TestSettled(t *testing.T) {
	for _, test := range []struct {
		reason   string
		writes   []int // at each look; then as the last
		atMost   time.Duration
		busy     time.Duration // since the first look
		lastsFor time.Duration
	}{
		{"nothing comes", []int{5}, time.Minute, 0, time.Second},
		{"one comes at once", []int{5, 6}, time.Minute, 0, 1500 * time.Millisecond},
		{"they come for a while, with a pause", []int{5, 6, 6, 7, 9}, time.Minute, 1500 * time.Millisecond, 3 * time.Second},
		{"they come for ever", []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, 2 * time.Second, 1500 * time.Millisecond, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin, looks := time.Now(), 0
			busy, err := settle(t.Context(), begin, test.atMost, func(context.Context) (int, error) {
				looks++
				return test.writes[min(looks, len(test.writes))-1], nil
			})
			if err != nil || busy.Sub(begin) != test.busy || time.Since(begin) != test.lastsFor {
				t.Errorf("%s: busy until %s, error %v, after %s; want %s, none, after %s",
					test.reason, busy.Sub(begin), err, time.Since(begin), test.busy, test.lastsFor)
			}
		})
	}
}
