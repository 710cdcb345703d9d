// Package script reads a user's script for the judge, and compares stored objects with the result of a run
// without a fault. It does not depend on a kind.
package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Script is a user's actions on the objects of a controller, step by step.
type Script struct {
	File string `yaml:"-"`
	// Command starts the controller; each {kubeconfig} becomes the path of the file. It may be empty.
	Command []string
	// CRDs are files and folders that kubectl applies before the script begins.
	CRDs  []Line
	Steps []Step
	// Allow has accepted findings, each as the judge prints it.
	Allow []Line
}

// Step is a shell command. It runs in the script's folder, with kubectl and a namespace.
type Step struct {
	Name string
	Line
}

// Line is a text and its line number in the file.
type Line struct {
	Text string
	At   int
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (l *Line) UnmarshalYAML(node *yaml.Node) error {
	l.At = node.Line
	return node.Decode(&l.Text)
}

var (
	aName      = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	aNamespace = regexp.MustCompile(`(?m)(^|\s)((-n|--namespace)([\s=]+[^\s=$"]|$)|(-A|--all-namespaces)(\s|=|$))`)
)

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *Step) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode || len(node.Content) != 2 || node.Content[1].Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a step is a name and a command, as in: create: kubectl apply -f foo.yaml", node.Line)
	}
	*s = Step{node.Content[0].Value, Line{node.Content[1].Value, node.Line}}
	switch {
	case !aName.MatchString(s.Name):
		return fmt.Errorf("line %d: the name of a step has lower-case letters, digits and '-': %q", s.At, s.Name)
	case strings.TrimSpace(s.Text) == "":
		return fmt.Errorf("line %d: step %s does nothing", s.At, s.Name)
	case aNamespace.MatchString(s.Text):
		return fmt.Errorf("line %d: step %s names a namespace; the judge plays each scenario in a new one, which kubectl takes by itself and $NAMESPACE names", s.At, s.Name)
	}
	if output, err := exec.Command("sh", "-nc", s.Text).CombinedOutput(); err != nil {
		return fmt.Errorf("line %d: step %s is no command of the shell: %s", s.At, s.Name, bytes.TrimSpace(output))
	}
	return nil
}

// Read reads a script. An error names the file and the line.
func Read(file string) (*Script, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &Script{File: file}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(s); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w\n(a script has the fields command, crds, steps and allow)", file, err)
	}
	for i, crds := range s.CRDs {
		s.CRDs[i].Text = s.Path(crds.Text)
		if _, err := os.Stat(s.CRDs[i].Text); err != nil {
			return nil, s.Wrong(crds.At, "%v", err)
		}
	}
	if len(s.Steps) == 0 {
		return nil, s.Wrong(1, "a script needs steps, as in\nsteps:\n- create: kubectl apply -f foo.yaml")
	}
	for i, step := range s.Steps {
		if slices.ContainsFunc(s.Steps[:i], func(other Step) bool { return other.Name == step.Name }) {
			return nil, s.Wrong(step.At, "two steps have the name %s", step.Name)
		}
	}
	return s, nil
}

// Wrong returns an error about a line of the script.
func (s *Script) Wrong(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.File, line, fmt.Sprintf(format, args...))
}

// Path resolves a path relative to the script's folder.
func (s *Script) Path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(s.File), path)
}

// Allows reports whether a line of allow is the finding, or its beginning.
func (s *Script) Allows(finding string) bool {
	return slices.ContainsFunc(s.Allow, func(line Line) bool {
		rest, begins := strings.CutPrefix(finding, line.Text)
		return begins && (rest == "" || strings.ContainsAny(rest[:1], " .["))
	})
}
