package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/byhand/internal/testkit/subprocess"
)

// asProgram makes the test binary the program.
const asProgram = "REPLAY_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// replay is the program, with the recording that comes with it.
func replay(t *testing.T, flags []string, command ...string) *exec.Cmd {
	program := exec.CommandContext(t.Context(), os.Args[0], append(append(flags, "../recording.json"), command...)...)
	program.Env = append(os.Environ(), asProgram+"=1")
	return program
}

// start starts the program.
func start(t *testing.T, program *exec.Cmd) *subprocess.Program {
	t.Helper()
	return subprocess.Run(t, program, time.Minute)
}

// end sends SIGTERM, after which the program must end with that exit code.
func end(t *testing.T, program *subprocess.Program, want int) {
	t.Helper()
	program.Signal(syscall.SIGTERM)
	if code := program.Exit(); code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
}

// The page stands, and its address is left, when the command begins. SIGTERM reaches the
// command, whose end is waited for.
func TestCommand(t *testing.T) {
	address := filepath.Join(t.TempDir(), "address")
	program := start(t, replay(t, []string{"--address", address}, "sh", "-c", "trap 'exit 3' TERM; cat "+address+"; echo; while :; do sleep 0.01; done"))
	program.Prints(2, "\n")
	lines := strings.Split(program.Output(), "\n")
	said, at := lines[0], "http://"+lines[1]+"/"
	if !strings.Contains(said, " in a browser: "+at+" ") {
		t.Errorf("it leaves %s and says %q", at, said)
	}
	response, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	end(t, program, 3)
}

// It ends with its command, or at SIGTERM, if there is none.
func TestEnd(t *testing.T) {
	for code, command := range []string{"true", "exit 1", "exit 2"} {
		if err := replay(t, nil, "sh", "-c", command).Run(); err == nil != (code == 0) || err != nil && err.Error() != fmt.Sprint("exit status ", code) {
			t.Errorf("%s: it ends with %v", command, err)
		}
	}
	alone := start(t, replay(t, nil))
	alone.WaitFor(" in a browser: ")
	end(t, alone, 0)
}

// What cannot be played gives one line and exit code 1, and the command does not run.
func TestMistake(t *testing.T) {
	program := replay(t, []string{"--page", "0.0.0.0:0"}, "echo", "the command runs")
	output, _ := program.CombinedOutput()
	if program.ProcessState.ExitCode() != 1 || bytes.Count(output, []byte("\n")) != 1 || !bytes.HasPrefix(output, []byte("replay: --page: ")) {
		t.Errorf("%v, output:\n%s", program.ProcessState, output)
	}
}

// It is built soon, from this repository and the standard library alone.
func TestImports(t *testing.T) {
	output, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(output)) {
		if !strings.HasPrefix(path, "example.com/byhand/") {
			t.Errorf("it imports %s: make run would build that before the first picture", path)
		}
	}
}
