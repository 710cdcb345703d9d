package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/byhand/judge/internal/court"
)

// play runs a built test, and returns what it prints and which scenarios fall short.
func play(t *testing.T, dir, binary, scenario string, flags ...string) (output string, short []string) {
	t.Helper()
	var printed strings.Builder
	if _, err := court.Quick(&printed, dir, scenario, append([]string{binary, only}, flags...)...); err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile(`(?m)^ *\d+/\d+ +(\S+) .*✗`).FindAllStringSubmatch(printed.String(), -1) {
		short = append(short, row[1])
	}
	return printed.String(), short
}

// The judge finds nothing in the reference without a bug, nor in the solution of the exercise.
func TestRight(t *testing.T) {
	for _, dir := range []string{"../reference", "../../exercise/testdata/solution"} {
		binary, err := build(dir, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if output, short := play(t, dir, binary, ""); len(short) > 0 || !strings.Contains(output, "\n0 of 42 scenarios fall short") {
			t.Errorf("%s: %v fall short:\n%s", dir, short, output)
		}
	}
}

// program is a module of one file in a folder of its own.
func program(t *testing.T, source string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/theirs\n\ngo 1.26.0\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A program that cannot be judged is told so in one line, and its folder stays as it was.
func TestContract(t *testing.T) {
	const contract = "func run(ctx context.Context, config *rest.Config) error"
	for _, test := range []struct{ name, source, says string }{
		{"no run", "package main\n\nfunc main() {}\n", contract},
		{"another run", "package main\n\nfunc main() { run() }\n\nfunc run() {}\n", contract},
		{"no main", "package theirs\n", contract},
		{"no Go", "package main\n\nfunc main() { x }\n", "does not build"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := program(t, test.source)
			if _, err := build(dir, t.TempDir()); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it says %v, want %s", err, test.says)
			}
			if files, _ := os.ReadDir(dir); len(files) != 2 {
				t.Errorf("the folder has the files %v", files)
			}
		})
	}
}

// However a program ends, or does not, the judge says so and goes on.
func TestEnds(t *testing.T) {
	for _, test := range []struct{ name, body, says string }{
		{"panics", `go panic("from a goroutine"); <-ctx.Done(); return nil`, "from a goroutine"},
		{"leaves what waits for ever", `c := kubernetes.NewForConfigOrDie(config); go func() { select {} }(); _, _ = c.Discovery().ServerVersion(); <-ctx.Done(); return nil`, "1 of 1 scenarios fall short"},
		{"does not return", `c := kubernetes.NewForConfigOrDie(config); _, _ = c.Discovery().ServerVersion(); select {}`, "run has not returned after a minute"},
		{"loops with requests", `c := kubernetes.NewForConfigOrDie(config); for ctx.Err() == nil { _, _ = c.Discovery().ServerVersion() }; return nil`, "has sent 5000 requests"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			source := "package main\n\nimport (\n\"context\"\n\"k8s.io/client-go/kubernetes\"\n\"k8s.io/client-go/rest\"\n)\n\nvar _ = kubernetes.NewForConfigOrDie\n\nfunc main() {}\n\nfunc run(ctx context.Context, config *rest.Config) error { config.QPS = -1; " + test.body + " }\n"
			dir := program(t, source)
			binary, err := build(dir, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if output, short := play(t, dir, binary, "create|scale"); !strings.Contains(output, test.says) || !slices.Contains(short, "create") {
				t.Errorf("it does not say %q:\n%s", test.says, output)
			}
		})
	}
}
