package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// What each way holds, and how often its handler was called.
func TestWays(t *testing.T) {
	s := server()
	s.AddNamespace("elsewhere")
	s.Add("/api/v1/namespaces/elsewhere/secrets/t0", s.Get(path+"s1").DeepCopy())
	shard, _ := parseShard("1,2/3")
	o := options{namespace: "default", label: "cache=wanted", field: "type=example.com/wanted", shard: shard}
	mine := 0
	for _, secret := range s.List("secrets") {
		if has(shard, secret) {
			mine++
		}
	}
	for _, w := range ways {
		objects, events := 11, 11
		switch w.name {
		case "namespace":
			objects, events = 10, 10
		case "label", "field":
			objects, events = 1, 1
		case "handler":
			events = mine
		case "shard": // This server has no such gate: it sends everything.
			events = mine
		case "metadata", "selectable", "get": // It has no such answers: TestReadme.
			continue
		}
		var out bytes.Buffer
		r, err := measure(t.Context(), s.Config(), w, o, &out)
		if err != nil || r.objects != objects || r.events != events || r.bytes == 0 {
			t.Errorf("%s: %+v, %v, want %d objects and %d events", w.name, r, err, objects, events)
		}
		if said := strings.Contains(out.String(), "gate"); said != (w.name == "shard") {
			t.Errorf("%s says %q", w.name, out.String())
		}
	}
	if _, err := measure(t.Context(), s.Config(), wayOf("field"), options{field: "data=x"}, io.Discard); err == nil || !strings.Contains(err.Error(), "field label not supported") {
		t.Errorf("a field that cannot be selected: %v", err)
	}
}

// Each object is in one of three parts, for the server (String) and for the handler (Matches).
func TestParseShard(t *testing.T) {
	want := "shardRange(object.metadata.uid, '0x0000000000000000', '0x5555555555555555') || shardRange(object.metadata.uid, '0xaaaaaaaaaaaaaaaa', '0x10000000000000000')"
	if shard, err := parseShard("1,3/3"); err != nil || shard.String() != want {
		t.Errorf("%v, %v, want %s", shard, err, want)
	}
	for _, secret := range server().List("secrets") {
		in := 0
		for _, part := range []string{"1/3", "2/3", "3/3"} {
			if shard, err := parseShard(part); err == nil && has(shard, secret) {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%s is in %d parts", secret.GetName(), in)
		}
	}
	for _, bad := range []string{"", "3", "0/3", "4/3", "1,/3", "a/b"} {
		if _, err := parseShard(bad); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}
