//go:build integration

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
)

// The clientset against a real API server: the same tests that the fake passes.
// A proxy in between records what is sent, and every request must be one that
// the comments in clientset promise, and every promise must be seen.
func TestBehaviour(t *testing.T) {
	s := newServer(t)
	proxy := s.proxied()

	behave(t, subject{
		Client:    clientset.NewForConfigOrDie(&rest.Config{Host: proxy.URL, QPS: -1}),
		Namespace: func(t *testing.T) string { return newServer(t).namespace },
		Real:      true,
	})

	promised := wireLines(t)
	seen := map[string]bool{}
	for _, line := range proxy.Log() {
		request, found := line.Method+" "+line.Path, false
		if line.Watch {
			request += "?watch=true"
		}
		for line, pattern := range promised {
			if pattern.MatchString(request) {
				found, seen[line] = true, true
			}
		}
		if !found {
			t.Errorf("%s was sent, and no comment in clientset says so", request)
		}
	}
	for line := range promised {
		if !seen[line] {
			t.Errorf("clientset promises %s, which was never sent", line)
		}
	}
}

// wireLines returns the requests that the methods' comments in clientset show, with a
// pattern for each.
func wireLines(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	files, err := filepath.Glob("../../clientset/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("clientset has the files %v: %v", files, err)
	}
	lines := map[string]*regexp.Regexp{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^//\t([A-Z]+ /apis/\S+)`).FindAllStringSubmatch(string(text), -1) {
			pattern := regexp.QuoteMeta(match[1])
			pattern = strings.ReplaceAll(pattern, `\[/\{subresource\}\]`, `(/[^/?]+)?`)
			pattern = regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(pattern, `[^/?]+`)
			lines[match[1]] = regexp.MustCompile("^" + pattern + "$")
		}
	}
	if len(lines) == 0 {
		t.Fatal("no comment in clientset shows a request")
	}
	return lines
}
