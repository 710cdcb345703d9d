package verdict

import (
	"runtime/debug"
	"testing"
)

func TestWhichJudge(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, test := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{[]debug.BuildSetting{setting("vcs.revision", "0123abc"), setting("vcs.modified", "false")}, "0123abc"},
		{[]debug.BuildSetting{setting("vcs.revision", "0123abc"), setting("vcs.modified", "true")}, "0123abc, with changes that are not committed"},
		{nil, "unknown"},
	} {
		if got := commitOf(test.settings); got != test.want {
			t.Errorf("commitOf(%v) = %q, want %q", test.settings, got, test.want)
		}
	}
}
