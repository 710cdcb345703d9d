package main

import (
	"testing"
	"time"
)

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
