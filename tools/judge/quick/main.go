// Command quick judges a Go program in seconds, without Kubernetes. It plays the scenarios that an in-memory
// API server supports, in virtual time. The program is the function run of a package main.
//
//	make judge QUICK=1 DIR=../mine       (in the root)
//	go run ./tools/judge/quick ../mine
//
// It writes nothing into the folder: go test gets the test that calls run as an overlay.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/byhand/internal/run/plane"
	"example.com/byhand/tools/judge/internal/court"
)

const test = `package main

import (
	"testing"

	"example.com/byhand/tools/judge/memory"
)

func TestByhandJudge(t *testing.T) { memory.Play(t, run) }
`

// only is the flag that skips the program's own tests.
const only = "-test.run=^TestByhandJudge$"

func main() {
	scenario := flag.String("scenario", "", "`regexp`: only scenarios whose whole name matches, as in 'rename|killed-.*'")
	flag.Parse()
	court.Exit(judge(os.Stdout, flag.Arg(0), *scenario))
}

// judge builds the test of the program in dir, runs it, and prints the result to w. It returns how many
// scenarios fall short.
func judge(w io.Writer, dir, scenario string) (short int, err error) {
	if dir == "" {
		return 0, errors.New("which folder? make judge QUICK=1 DIR=../mine")
	}
	temp, err := os.MkdirTemp("", "byhand-judge-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	binary, err := build(dir, temp)
	if err != nil {
		return 0, err
	}
	return court.Quick(w, dir, scenario, binary, only)
}

// build builds the test of the program in a folder.
func build(dir, temp string) (binary string, err error) {
	// A test file name that the folder is unlikely to contain.
	const name = "byhand_judge_of_this_program_test.go"
	file, overlay, binary := filepath.Join(temp, name), filepath.Join(temp, "overlay.json"), filepath.Join(temp, "judge.test")
	laid, err := json.Marshal(map[string]any{"Replace": map[string]string{name: file}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(file, []byte(test), 0o600), os.WriteFile(overlay, laid, 0o600)); err != nil {
		return "", err
	}
	workspace, err := withByhand(dir, temp)
	if err != nil {
		return "", err
	}
	if output, err := goIn(dir, workspace, "test", "-c", "-ldflags=-s -w", "-mod=readonly", "-o", binary, "-overlay", overlay, "."); err != nil {
		wrong := regexp.MustCompile(`\S+\.go:`).FindAllString(output, -1)
		if strings.Contains(output, name) && !slices.ContainsFunc(wrong, func(file string) bool { return !strings.Contains(file, name) }) {
			return "", fmt.Errorf("%s: the program must be a package main with: func run(ctx context.Context, config *rest.Config) error", dir)
		}
		return "", fmt.Errorf("%s does not build:\n%s", dir, output)
	}
	return binary, nil
}

// withByhand creates a workspace of this repository and the folder's module. It changes neither go.mod.
func withByhand(dir, temp string) (workspace string, err error) {
	byhand, err := plane.Root()
	if err != nil {
		return "", err
	}
	output, err := goIn(dir, "off", "env", "GOMOD")
	mod := strings.TrimSpace(output)
	if err != nil || mod == "" || mod == os.DevNull {
		return "", fmt.Errorf("%s is in no Go module: go mod init makes one", dir)
	}
	workspace = filepath.Join(temp, "go.work")
	if output, err := goIn(dir, workspace, "work", "init", byhand, filepath.Dir(mod)); err != nil {
		return "", fmt.Errorf("%s: %s", mod, output)
	}
	return workspace, nil
}

// goIn runs go in a folder. workspace is a go.work file or "off".
func goIn(dir, workspace string, args ...string) (output string, err error) {
	command := exec.Command("go", args...)
	command.Dir, command.Env = dir, append(os.Environ(), "GOWORK="+workspace)
	text, err := command.CombinedOutput()
	return string(text), err
}
