//go:build integration

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// instructions returns the lines of the Dockerfile that begin with this word.
func instructions(t *testing.T, word string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range regexp.MustCompile(`(?m)^`+word+` (.+)$`).FindAllStringSubmatch(string(text), -1) {
		found = append(found, match[1])
	}
	if len(found) == 0 {
		t.Fatalf("the Dockerfile has no %s", word)
	}
	return found
}

// buildAsImage builds the program with the Dockerfile's command, from what
// .dockerignore lets through, and returns where it is. The place is always the same: a
// program that is there and up to date is not linked again.
func buildAsImage(t *testing.T) (program string) {
	t.Helper()
	ignore, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	source := t.TempDir()
	for line := range strings.Lines(string(ignore)) {
		if name, kept := strings.CutPrefix(strings.TrimSpace(line), "!"); kept {
			if _, err := command("cp", "-R", name, source); err != nil {
				t.Fatal(err)
			}
		}
	}
	commands := instructions(t, "RUN")
	build := commands[len(commands)-1]
	if program, err = filepath.Abs(filepath.Join(root, "bin", "byhand-image")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", strings.Replace(build, " /byhand ", " '"+program+"' ", 1))
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOOS=linux")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, output)
	}
	return program
}

// The program in the image does not run as root, and is built by the Go of go.mod. That it needs no
// other file TestDeploy sees, which runs it where there is none.
func TestImage(t *testing.T) {
	t.Parallel()
	user, _, _ := strings.Cut(instructions(t, "USER")[0], ":")
	if number, err := strconv.Atoi(user); err != nil || number == 0 {
		t.Errorf("USER %s, want a number that is not 0", user)
	}
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if from := instructions(t, "FROM")[0]; !strings.HasPrefix(from, fmt.Sprintf("golang:%s ", version[1])) {
		t.Errorf("FROM %s, but go.mod says %s", from, version[1])
	}
}
