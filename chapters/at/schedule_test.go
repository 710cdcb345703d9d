package main

import (
	"testing"
	"time"
)

func TestParseSchedule(t *testing.T) {
	for schedule, want := range map[string]string{
		"2026-01-02T15:04:05Z":      "2026-01-02 15:04:05 +0000 UTC",
		"2026-01-02T15:04:05+01:30": "2026-01-02 13:34:05 +0000 UTC",
		"2024-02-29T00:00:00Z":      "2024-02-29 00:00:00 +0000 UTC",
	} {
		if got, err := parseSchedule(schedule); err != nil || got.UTC().String() != want {
			t.Errorf("%s is %s (%v), want %s", schedule, got.UTC(), err, want)
		}
	}
	for _, schedule := range []string{"2026-02-29T00:00:00Z", "2026-01-02t15:04:05Z", "2026-01-02T15:04:05", "15:04", ""} {
		if got, err := parseSchedule(schedule); err == nil {
			t.Errorf("%q is %s, want an error", schedule, got)
		}
	}
}

func TestTimeLeft(t *testing.T) {
	const years = 200 * 365 * 24 * time.Hour
	for _, test := range []struct {
		reason   string
		schedule time.Time
		atLeast  time.Duration
		atMost   time.Duration
	}{
		{"it is time", noon, 0, 0},
		{"it was yesterday", noon.AddDate(0, 0, -1), 0, 0},
		{"in a minute", noon.Add(time.Minute), time.Minute, time.Minute},
		{"in the year 9999", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), years, 1<<63 - 1},
		{"in the year 0", time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), 0, 0},
	} {
		if got := timeLeft(test.schedule, noon); got < test.atLeast || got > test.atMost {
			t.Errorf("%s: %s left, want %s to %s", test.reason, got, test.atLeast, test.atMost)
		}
	}
}

func TestIsMissed(t *testing.T) {
	for _, test := range []struct {
		late     time.Duration
		deadline *int64
		want     bool
	}{
		{time.Hour, nil, false},
		{-time.Hour, new(int64(0)), false},
		{0, new(int64(0)), false},
		{time.Minute, new(int64(60)), false},
		{time.Minute + time.Second, new(int64(60)), true},
		{time.Hour, new(int64(1<<63 - 1)), false},
		{250 * 365 * 24 * time.Hour, new(int64(60)), true},
	} {
		if got := isMissed(noon, noon.Add(test.late), test.deadline); got != test.want {
			t.Errorf("%s late: missed %t, want %t", test.late, got, test.want)
		}
	}
}
