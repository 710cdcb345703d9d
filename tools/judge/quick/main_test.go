package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	_ "example.com/byhand/controller/foo" // go test caches a result: a change of the core makes it run again.
	"example.com/byhand/tools/judge/internal/court"
)

// play judges with a built test. It returns the output and the scenarios that fall short.
func play(t *testing.T, dir, scenario string, command ...string) (output string, short []string) {
	t.Helper()
	var printed strings.Builder
	if _, err := court.Quick(&printed, dir, scenario, command...); err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile(`(?m)^ *\d+/\d+ +(\S+) .*✗`).FindAllStringSubmatch(printed.String(), -1) {
		short = append(short, row[1])
	}
	return printed.String(), short
}

// built builds the test of the program in a folder.
func built(t *testing.T, dir string) (binary string) {
	t.Helper()
	binary, err := build(dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// The core and the solution of the exercise pass.
func TestRight(t *testing.T) {
	for _, dir := range []string{"../core", "../../new/testdata/solution"} {
		if output, short := play(t, dir, "", built(t, dir), only); len(short) > 0 || !strings.Contains(output, "\n0 of 41 scenarios fall short") {
			t.Errorf("%s: %v fall short:\n%s", dir, short, output)
		}
	}
}

// A program that cannot be judged gets one line of explanation. An exit, a panic or an endless run is
// reported. The folder stays unchanged.
func TestEnds(t *testing.T) {
	const contract = "func run(ctx context.Context, config *rest.Config) error"
	const begin = "package main\n\nimport (\n\"context\"\n\"k8s.io/client-go/kubernetes\"\n\"k8s.io/client-go/rest\"\n)\n\nfunc main() {}\n\n" +
		contract + " { config.QPS = -1; c := kubernetes.NewForConfigOrDie(config); _, _ = c.Discovery().ServerVersion(); "
	for _, test := range []struct{ name, source, says string }{
		{"no run", "package main\n\nfunc main() {}\n", contract},
		{"another run", "package main\n\nfunc main() { run() }\n\nfunc run() {}\n", contract},
		{"no main", "package theirs\n", contract},
		{"no Go", "package main\n\nfunc main() { x }\n", "does not build"},
		{"panics", begin + `go panic("from a goroutine"); <-ctx.Done(); return nil }`, "from a goroutine"},
		{"leaves a blocked goroutine", begin + `go func() { select {} }(); <-ctx.Done(); return nil }`, "1 of 1 scenarios fall short"},
		{"does not return", begin + `select {} }`, "run has not returned a minute after"},
		{"loops with requests", begin + `for ctx.Err() == nil { _, _ = c.Discovery().ServerVersion() }; return nil }`, "sent 5000 requests"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program := fstest.MapFS{"go.mod": {Data: []byte("module example.com/theirs\n\ngo 1.26.0\n")}, "main.go": {Data: []byte(test.source)}}
			if err := os.CopyFS(dir, program); err != nil {
				t.Fatal(err)
			}
			var printed strings.Builder
			short, err := judge(&printed, dir, "create|scale")
			if said := fmt.Sprint(&printed, err); !strings.Contains(said, test.says) || short == 0 && err == nil {
				t.Errorf("%d fall short, and the output lacks %q:\n%s", short, test.says, said)
			}
			if files, _ := os.ReadDir(dir); len(files) != len(program) {
				t.Errorf("the folder has the files %v", files)
			}
		})
	}
}
