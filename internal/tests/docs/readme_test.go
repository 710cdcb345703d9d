package testkit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/internal/tests/readme"
)

const sections = `
## Before

|||sh
echo before
|||

## Try it

|||
# no heading
no command
|||
|||sh
export A=b
# ls of what is there   # twice
echo one '#1'  # a comment
  echo "$TWO" >> file; cat file
|||

Now:

|||sh
exit 3
|||

### Part

|||sh
echo part
|||
`

// playSection opens a section in a test, and returns that test's failure messages.
func playSection(t *testing.T, heading string, test func(s *readme.Script)) (told string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(sections, "|||", "```")), 0o600); err != nil {
		t.Fatal(err)
	}
	return playTest(t, func(f *fakeT) {
		s := readme.Open(f, file, heading)
		s.Dir, s.Env = filepath.Dir(file), []string{"TWO=two"}
		test(s)
	}).complained
}

// Each difference from the README fails the test.
func TestScriptFails(t *testing.T) {
	for want, test := range map[string]func(s *readme.Script){
		`does not know: ["exit 3"]`:       func(s *readme.Script) { s.Run("echo"); s.Run("echo") },
		`this test expects "echo two"`:    func(s *readme.Script) { s.Run("echo two") },
		`["echo part" "two"] in`:          func(s *readme.Script) { s.Run("echo", "echo part", "two") },
		"want refused true":               func(s *readme.Script) { s.Refused("echo", "one") },
		"exit status 3, want refused fal": func(s *readme.Script) { s.Commands = s.Commands[2:]; s.Run("exit") },
		"no command more":                 func(s *readme.Script) { s.Commands = nil; s.Run("echo") },
	} {
		if told := playSection(t, "Try it", test); !strings.Contains(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	}
	if told := playSection(t, "Try", func(*readme.Script) {}); !strings.Contains(told, `no command below "Try"`) {
		t.Errorf("without a section: %q", told)
	}
	if told := playSection(t, "Part", func(s *readme.Script) { s.Run("echo part") }); told != "" {
		t.Errorf("a part of a section: %q", told)
	}
}
