package observer

import (
	"flag"
	"io"
	"strings"
	"testing"
)

func TestFlag(t *testing.T) {
	parse := func(args ...string) (f Flag, err error) {
		set := flag.NewFlagSet("byhand", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		set.BoolFunc("trace", "usage", f.Set)
		err = set.Parse(args)
		return f, err
	}
	for _, test := range []struct {
		args []string
		want Flag
	}{
		{nil, Flag{}},
		{[]string{"--trace"}, Flag{on: true}},
		{[]string{"--trace=json"}, Flag{on: true, json: true}},
		{[]string{"--trace=default/example-foo"}, Flag{on: true, key: "default/example-foo"}},
	} {
		if f, err := parse(test.args...); err != nil || f != test.want || f.On() != test.want.on {
			t.Errorf("%q: %+v (%v), want %+v", test.args, f, err, test.want)
		}
	}
	for _, bad := range []string{"", "yes", "example-foo", "default/", "/foo", "default/a/b", "default/Foo"} {
		if _, err := parse("--trace=" + bad); err == nil || !strings.Contains(err.Error(), "namespace/name of an object") {
			t.Errorf("--trace=%s: error %v", bad, err)
		}
	}
}
