package observer

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// section returns the part of README.md under a heading, up to the next one.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("README.md has no %q", heading)
	}
	section, _, _ := strings.Cut(after, "\n#")
	return section
}

var (
	// traceLine is a line of the README's excerpt: its step and its place.
	traceLine = regexp.MustCompile(`^ *[0-9.]+s (?:\+ *[0-9.]+s)? +(\w+) +(\w+) .* (\S+\.go) (\S+)$`)
	item      = regexp.MustCompile(`(?m)^[0-9]+\. (.*)$`)
	stepName  = regexp.MustCompile("`(\\w+ \\w+)`")
	link      = regexp.MustCompile(`\]\(([^)#]+)\)`)
)

// The README's reading order names, behind the arrow of each item, the lines of its
// trace that happen in the files of that item: all of the trace, and nothing else.
func TestReadme(t *testing.T) {
	type step struct{ name, file string }
	named := map[step]bool{}
	for _, found := range item.FindAllStringSubmatch(section(t, "## Read it in this order"), -1) {
		text, steps, _ := strings.Cut(found[1], "→")
		for _, name := range stepName.FindAllStringSubmatch(steps, -1) {
			for _, file := range link.FindAllStringSubmatch(text, -1) {
				named[step{name[1], file[1]}] = true
			}
		}
	}

	// The first block are the commands.
	lines := strings.Split(section(t, "### Step by step"), "```")[3]
	happens := map[string]bool{}
	for line := range strings.Lines(strings.Trim(lines, "\n") + "\n") {
		fields := traceLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if fields == nil {
			t.Errorf("not a line of the trace: %q", line)
			continue
		}
		name, file, function := fields[1]+" "+fields[2], fields[3], fields[4]
		happens[name] = true
		if !functions(t, file)[function] {
			t.Errorf("%s has no %s", file, function)
		}
		if !named[step{name, file}] {
			t.Errorf("no item of the reading order that links %s names %q", file, name)
		}
	}
	if len(happens) < 10 {
		t.Fatalf("the trace has the steps %v alone", slices.Sorted(maps.Keys(happens)))
	}
	for at := range named {
		if !happens[at.name] {
			t.Errorf("the reading order names %q, which the trace does not have", at.name)
		}
	}
}
