// Package story reads what a user tells the judge about a controller, and compares what an API server
// has stored with what it had without a fault. It knows no kind.
package story

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Story is what a user does with objects that a controller looks after, step by step.
type Story struct {
	File string
	// Command starts the controller; each {kubeconfig} becomes the path of the file. It may be empty.
	Command []string
	// CRDs are files and folders that kubectl applies before the story begins.
	CRDs  []string
	Steps []Step
	// Allow has what was found and is meant so, each as the judge prints it.
	Allow []Line
}

// Step is a command of the shell, in the folder of the story, with kubectl and a namespace.
type Step struct {
	Name string
	Line
}

// Line is a text and where it stands in the file.
type Line struct {
	Text string
	At   int
}

var (
	aName       = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	aNamespace  = regexp.MustCompile(`(?m)(^|\s)(-n|--namespace|-A|--all-namespaces)(\s|=|$)`)
	syntaxError = regexp.MustCompile(`(?s)^yaml: line (\d+): (.*)$`)
)

// Read reads a story. An error names the file and the line.
func Read(file string) (*Story, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		if where := syntaxError.FindStringSubmatch(err.Error()); where != nil {
			return nil, fmt.Errorf("%s:%s: %s", file, where[1], where[2])
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := &Story{File: file}
	if len(document.Content) == 0 {
		return nil, s.Wrong(1, "the story is empty; it needs steps")
	}
	fields := document.Content[0]
	if fields.Kind != yaml.MappingNode {
		return nil, s.Wrong(fields.Line, "a story has the fields command, crds, steps and allow")
	}
	seen := map[string]int{}
	for i := 0; i < len(fields.Content); i += 2 {
		name, value := fields.Content[i], fields.Content[i+1]
		if before := seen[name.Value]; before > 0 {
			return nil, s.Wrong(name.Line, "%s stands at line %d already", name.Value, before)
		}
		seen[name.Value] = name.Line
		if err := s.read(name, value); err != nil {
			return nil, err
		}
	}
	if len(s.Steps) == 0 {
		return nil, s.Wrong(max(seen["steps"], 1), "a story needs steps, as in\nsteps:\n- create: kubectl apply -f foo.yaml")
	}
	return s, nil
}

// Wrong is an error about a line of the story.
func (s *Story) Wrong(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.File, line, fmt.Sprintf(format, args...))
}

// read reads one field.
func (s *Story) read(name, value *yaml.Node) error {
	if !slices.Contains([]string{"command", "crds", "steps", "allow"}, name.Value) {
		return s.Wrong(name.Line, "a story has no field %q; it has command, crds, steps and allow", name.Value)
	}
	if value.Kind != yaml.SequenceNode {
		return s.Wrong(value.Line, "%s must be a list", name.Value)
	}
	for _, item := range value.Content {
		line := Line{item.Value, item.Line}
		if name.Value != "steps" && (item.Kind != yaml.ScalarNode || item.Value == "") {
			return s.Wrong(item.Line, "each item of %s must be a text", name.Value)
		}
		switch name.Value {
		case "command":
			s.Command = append(s.Command, line.Text)
		case "crds":
			path := s.Path(line.Text)
			if _, err := os.Stat(path); err != nil {
				return s.Wrong(line.At, "%v", err)
			}
			s.CRDs = append(s.CRDs, path)
		case "allow":
			s.Allow = append(s.Allow, line)
		case "steps":
			if err := s.readStep(item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Story) readStep(item *yaml.Node) error {
	if item.Kind != yaml.MappingNode || len(item.Content) != 2 || item.Content[1].Kind != yaml.ScalarNode {
		return s.Wrong(item.Line, "a step is a name and a command, as in: create: kubectl apply -f foo.yaml")
	}
	step := Step{item.Content[0].Value, Line{item.Content[1].Value, item.Line}}
	switch {
	case !aName.MatchString(step.Name):
		return s.Wrong(step.At, "the name of a step has lower-case letters, digits and '-': %q", step.Name)
	case slices.ContainsFunc(s.Steps, func(other Step) bool { return other.Name == step.Name }):
		return s.Wrong(step.At, "two steps have the name %s", step.Name)
	case strings.TrimSpace(step.Text) == "":
		return s.Wrong(step.At, "step %s does nothing", step.Name)
	case aNamespace.MatchString(step.Text):
		return s.Wrong(step.At, "step %s names a namespace; the judge plays each scenario in one of its own, which kubectl takes by itself", step.Name)
	}
	s.Steps = append(s.Steps, step)
	return nil
}

// Path is where a path of the story leads: it is written as seen from the story's folder.
func (s *Story) Path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(s.File), path)
}

// Allows reports whether a finding is meant so: a line of allow is the finding, or begins it.
func (s *Story) Allows(finding string) bool {
	return slices.ContainsFunc(s.Allow, func(line Line) bool {
		rest, begins := strings.CutPrefix(finding, line.Text)
		return begins && (rest == "" || strings.ContainsAny(rest[:1], " .["))
	})
}
