package main

import "time"

// maxWait is after how long to look at the clock again. A timer counts the time that passes
// and does not notice that the clock was set.
const maxWait = time.Hour

// parseSchedule returns the instant that a schedule names. The pattern in the CRD admits
// nothing else, except days that a month does not have.
func parseSchedule(schedule string) (time.Time, error) {
	return time.Parse(time.RFC3339, schedule)
}

// timeLeft returns how long it is until the schedule, and 0 if it is time. It compares wall
// clocks: a parsed time has no monotonic reading. It counts at most 292 years.
func timeLeft(schedule, now time.Time) time.Duration {
	return max(0, schedule.Sub(now))
}

// isMissed reports whether it is too late to begin. Whole seconds: a time.Duration would
// overflow with a large deadline.
func isMissed(schedule, now time.Time, deadlineSeconds *int64) bool {
	return deadlineSeconds != nil && now.Unix()-schedule.Unix() > *deadlineSeconds
}
