package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"example.com/byhand/internal/trace"
)

// The recording has what the table of README.md says, in its order: what a program behind a glass has
// written, and because of what; of the others, an event that names them. Then it has what the text says.
func TestRecording(t *testing.T) {
	file, err := os.Open("chain.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	steps, err := trace.ReadRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| \\d \\| `(.+?)`.* \\| (.+) \\| (?:`(\\S+) (\\S+)`)?.* \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) != 7 {
		t.Fatalf("%d rows", len(rows))
	}
	all := func(text string) string { return strings.ReplaceAll(regexp.QuoteMeta(text), "…", ".*") }
	at := 0
	next := func(what, pattern string) {
		t.Helper()
		for ; at < len(steps); at++ {
			if s := steps[at]; s.What == what && regexp.MustCompile(pattern).MatchString(s.Text) {
				return
			}
		}
		t.Fatalf("no step %s %s in this place", what, pattern)
	}
	for _, row := range rows {
		who, because, method, path := row[1], row[2], row[3], row[4]
		if method == "" {
			next(trace.Received, `\(by .*`+who)
			continue
		}
		next(trace.Answered, fmt.Sprintf(`^%s: %s %s → 20\d.*\(because %s, `, who, method, all(path), all(because)))
	}
	at = 0
	next(trace.Answered, `^Deployment controller: PUT .*/status → 409`)
	at = 0
	next(trace.Received, `^scheduler: ReplicaSet `)
}
