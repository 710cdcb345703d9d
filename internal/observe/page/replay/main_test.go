package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/byhand/internal/run/subprocess"
)

// asProgram is the variable with which the test binary runs as the program.
const asProgram = "REPLAY_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The page is served, and its address is written, before the command starts. The command receives
// SIGTERM, and its exit code becomes the program's.
func TestCommand(t *testing.T) {
	address := filepath.Join(t.TempDir(), "address")
	replay := exec.CommandContext(t.Context(), os.Args[0], "--address", address, "../recording.json",
		"sh", "-c", "trap 'exit 3' TERM; cat "+address+"; echo; while :; do sleep 0.01; done")
	replay.Env = append(os.Environ(), asProgram+"=1")
	program := subprocess.Run(t, replay, time.Minute)
	program.Prints(2, "\n")
	lines := strings.Split(program.Output(), "\n")
	url := "http://" + lines[1] + "/"
	if !strings.Contains(lines[0], " in a browser: "+url+" ") {
		t.Errorf("the address is %s, and the program prints %q", url, lines[0])
	}
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	program.Signal(syscall.SIGTERM)
	if code := program.Exit(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
}

// The program builds within seconds: it imports only this repository and the standard library.
func TestImports(t *testing.T) {
	output, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(output)) {
		if !strings.HasPrefix(path, "example.com/byhand/") {
			t.Errorf("make run would build %s before the first picture", path)
		}
	}
}
