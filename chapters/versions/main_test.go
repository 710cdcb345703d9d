package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// Key and value are base64, and the cluster's files say where etcd listens.
func TestStored(t *testing.T) {
	// /registry/restaurant.programming-kubernetes.info/pizzas/ns/p
	const asks = `POST /v3/kv/range {"key":"L3JlZ2lzdHJ5L3Jlc3RhdXJhbnQucHJvZ3JhbW1pbmcta3ViZXJuZXRlcy5pbmZvL3Bpenphcy9ucy9w"}`
	answer := fmt.Sprintf(`{"header":{},"kvs":[{"key":"eA==","value":"%s"}],"count":"1"}`, base64.StdEncoding.EncodeToString([]byte(beta)))
	etcd := chaptertest.Expect(t,
		exchange{Request: asks, Code: 200, Answer: answer},
		exchange{Request: asks, Code: 200, Answer: `{"header":{}}`},
		exchange{Request: asks, Code: 200, Answer: strings.Repeat("x", 16<<20)},
	).Host
	if pizza, err := stored(t.Context(), etcd, "ns/p"); err != nil || pizza.APIVersion != group+"/v1beta1" || string(pizza.Spec) != `{"toppings":[{"name":"salami","quantity":2}]}` {
		t.Errorf("it is %s %s, %v", pizza.APIVersion, pizza.Spec, err)
	}
	if _, err := stored(t.Context(), etcd, "ns/p"); err == nil {
		t.Error("an object that is not there is no error")
	}
	// What never ends is not read to its end, and not shown whole.
	if _, err := stored(t.Context(), etcd, "ns/p"); err == nil || len(err.Error()) > 1000 {
		t.Errorf("an answer without an end: %.100v", err)
	}

	home := t.TempDir()
	config := filepath.Join(home, "state", "clusters", "mine", "kwok.yaml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, []byte("options:\n  etcdPeerPort: 1\n  etcdPort: 23\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if url, err := etcdOf(filepath.Join(home, "mine.kubeconfig")); err != nil || url != "http://127.0.0.1:23" {
		t.Errorf("%s, %v", url, err)
	}
	for _, other := range []string{"", filepath.Join(home, "yours.kubeconfig"), filepath.Join(home, "mine")} {
		if url, err := etcdOf(other); err == nil {
			t.Errorf("%q: %s, want an error", other, url)
		}
	}
}

// A mistake of use gets one line that says what to do, before anything is asked.
func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		want string
		args []string
	}{
		{usage, []string{"stored"}},
		{usage, []string{"migrate", "all"}},
		{"cannot read the kubeconfig", nil},
		{"which etcd?", []string{"stored", "ns/p"}},
	} {
		err := run(t.Context(), "/nowhere/config", test.args, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want one line with %q", test.args, err, test.want)
		}
	}
}
