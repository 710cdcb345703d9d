package proxy

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each recording in testdata shows one relation between objects, or one way to waste requests. The .log
// file has its log, with the causes and findings.
func TestRecordings(t *testing.T) {
	recordings, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(recordings) == 0 {
		t.Fatalf("%d recordings, %v", len(recordings), err)
	}
	for _, file := range recordings {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(strings.TrimSuffix(file, "jsonl") + "log")
			if err != nil {
				t.Fatal(err)
			}
			log, _ := replay(t, file, Options{})
			if diff := cmp.Diff(string(want), log); diff != "" {
				t.Errorf("the log (-want +got):\n%s", diff)
			}
		})
	}
}

func replay(t *testing.T, file string, o Options) (log string, p *Proxy) {
	t.Helper()
	recording, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	var out bytes.Buffer
	if p, err = Replay(recording, o, &out); err != nil {
		t.Fatal(err)
	}
	return out.String(), p
}

// Known findings of an earlier report are not reported again, in the same places.
func TestKnown(t *testing.T) {
	const file = "testdata/writes.jsonl"
	_, first := replay(t, file, Options{Allowed: []string{"timestamp-write"}})
	var report bytes.Buffer
	known := filepath.Join(t.TempDir(), "report.json")
	if err := first.Report(&report); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(known, report.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, second := replay(t, file, Options{Known: known})
	if found := second.Findings(); len(found) != 1 || found[0].Name != "timestamp-write" {
		t.Errorf("found %v, want timestamp-write alone", found)
	}
}
