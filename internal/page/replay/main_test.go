package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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

// It plays while a command runs, leaves its address, and ends as the command does.
func TestCommand(t *testing.T) {
	address := filepath.Join(t.TempDir(), "address")
	program := replay(t, []string{"--address", address}, "sh", "-c", "cat "+address+"; echo; read go; exit 3")
	stdin, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// The page stands when the command begins, and says where before that.
	output, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	said := readLine(t, output)
	at := "http://" + readLine(t, output) + "/"
	if !strings.Contains(said, " in a browser: "+at+" ") {
		t.Errorf("it leaves %s and says %q", at, said)
	}
	response, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if _, err := io.WriteString(stdin, "\n"); err != nil {
		t.Fatal(err)
	}
	if _ = program.Wait(); program.ProcessState.ExitCode() != 3 {
		t.Errorf("%v, want the command's exit code 3", program.ProcessState)
	}
}

// SIGTERM ends the command, and it is waited for.
func TestSignal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ended")
	program := replay(t, nil, "sh", "-c", "trap 'touch "+file+"; exit 4' TERM; echo ready; while :; do sleep 0.01; done")
	output, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	for readLine(t, output) != "ready" {
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _ = program.Wait(); program.ProcessState.ExitCode() != 4 {
		t.Errorf("%v, want the command's exit code 4", program.ProcessState)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the command has not ended by itself: %v", err)
	}
}

// Without a command SIGTERM is its end, and no mistake.
func TestAlone(t *testing.T) {
	program := replay(t, nil)
	output, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	readLine(t, output)
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}

// What cannot be played gives one line and exit code 1.
func TestMistake(t *testing.T) {
	program := replay(t, []string{"--page", "0.0.0.0:0"}, "echo", "the command runs")
	output, err := program.CombinedOutput()
	if program.ProcessState.ExitCode() != 1 || bytes.Count(output, []byte("\n")) != 1 || !bytes.HasPrefix(output, []byte("replay: --page: ")) {
		t.Errorf("%v, output:\n%s", err, output)
	}
}

// It is built within seconds, from this repository and the standard library alone.
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

// readLine reads a line and nothing after it.
func readLine(t *testing.T, from io.Reader) string {
	t.Helper()
	var line []byte
	for one := make([]byte, 1); ; line = append(line, one[0]) {
		if _, err := io.ReadFull(from, one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if one[0] == '\n' {
			return string(line)
		}
	}
}
