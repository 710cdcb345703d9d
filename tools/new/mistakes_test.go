//go:build mutants

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/byhand/internal/tests/mistake"
)

// `make test` reports each common mistake in a new kind, and names the file.
func TestMistakes(t *testing.T) {
	const crd, sample, role = "config/crd.yaml", "config/sample.yaml", "config/role.yaml"
	ticket := newTicket(t)
	for _, s := range stepsOf(t, ticket)[:3] { // its fields
		s.apply(t, ticket)
	}
	tests := []struct{ mistake, file, before, after, says string }{
		{"omitempty forgotten", "types.go", `json:"priorityClassName,omitempty"`, `json:"priorityClassName"`, crd + ": Ticket.spec: the schema requires [text], and Go always sends [priorityClassName text]"},
		{"a pointer that is shared", "deepcopy.go", "out.Replicas = new(*s.Replicas)", "out.Replicas = s.Replicas", "TicketSpec.Replicas is shared"},
		{"no list registered", "register.go", "&Ticket{}, &TicketList{}", "&Ticket{}", crd + ": it defines Ticket, and Go registers no TicketList in desk.example.com/v1: register.go"},
		{"a different type in the schema", crd, "type: integer, format: int32, minimum", "type: string, minimum", crd + `: Ticket.spec.replicas: Go has int32, which is "integer int32" on the wire; the schema says "string"`},
		{"a sample that is rejected", sample, "  text: hello\n", "", sample + ": the API server rejects it: spec.text: Required value"},
		{"a missing permission", role, "[configmaps], verbs: [list, watch, create, update]", "[configmaps], verbs: [list, watch, create]", role + ` does not allow: apiGroups: [""], resources: [configmaps], verbs: [update]`},
		{"a misspelled field of a role", role, "resources: [tickets]", "resource: [tickets]", role + ": "},
		{"an informer that does not run", "main.go", "range informers {\n\t\t\trunning", "range informers[:1] {\n\t\t\trunning", "main.go"},
		{"a cached object is changed", "reconcile.go", "before.DeepCopyObject().(T)", "before", "reconcile.go has changed an object of the cache of configmaps, which is shared"},
		{"a write each time", "reconcile.go", "exists && equality.Semantic.DeepEqual(before, desired)", "false", "reconcile.go writes although nothing has changed"},
		{"a different selector", "informer.go", "opts.LabelSelector = label", `opts.LabelSelector = label + "s"`, "no informer sees configmaps/example, which has the labels map[desk.example.com/ticket:]"},
		{"an object of another owner is written", "reconcile.go", "if !metav1.IsControlledBy(before, w) {", "if false {", `the ConfigMap has the text "hello", want "theirs"`},
		{"a write that is not awaited", "reconcile.go", "r.Writes.Await(cache.MetaObjectToName(w), store, after)", "_ = after", "reconcile.go sends POST configmaps again, while the cache of configmaps does not show"},
	}
	// One program contains all mistakes in Go functions; a variable selects one. The other mistakes are made
	// in a copy of the folder.
	texts, alone := map[string]string{}, map[string]bool{}
	for _, test := range tests {
		alone[test.mistake] = filepath.Ext(test.file) != ".go" || mistake.Add(t, texts, filepath.Join(ticket, test.file), test.before, test.after, test.mistake) != nil
	}
	program := filepath.Join(mistake.Build(t, ticket, texts, "."), "desk.test")
	if output, err := call(ticket, program); err != nil {
		t.Fatalf("without a mistake: %v\n%s", err, output)
	}
	for _, test := range tests {
		t.Run(strings.ReplaceAll(test.mistake, " ", "-"), func(t *testing.T) {
			t.Parallel()
			dir, run := ticket, []string{"env", mistake.Variable + "=" + test.mistake, program}
			if alone[test.mistake] {
				dir = filepath.Join(t.TempDir(), "desk")
				if err := os.CopyFS(dir, os.DirFS(ticket)); err != nil {
					t.Fatal(err)
				}
				replace(t, dir, test.file, test.before, test.after)
				if filepath.Ext(test.file) == ".go" {
					run = []string{"make", "test"}
				}
			}
			output, err := call(dir, run[0], run[1:]...)
			if err == nil || !strings.Contains(output, test.says) {
				t.Errorf("%s in %s: error %v, it says\n%swanted: %s", test.mistake, test.file, err, output, test.says)
			}
			if strings.Contains(output, "goroutine ") {
				t.Errorf("it prints goroutines:\n%s", output)
			}
		})
	}
}

// step is a diff of the README, and the failure that the README announces after it, "" if none.
type step struct{ diff, failure string }

func stepsOf(t *testing.T, dir string) (steps []step) {
	t.Helper()
	parts := strings.Split(contents(t, filepath.Join(dir, "README.md")), "```diff\n")
	for _, part := range parts[1:] {
		diff, text, _ := strings.Cut(part, "```\n")
		s := step{diff: diff}
		if promised := regexp.MustCompile("(?:fails|says): `([^`]+)`").FindStringSubmatch(text); promised != nil {
			s.failure = promised[1]
		}
		steps = append(steps, s)
	}
	return steps
}

func (s step) apply(t *testing.T, dir string) {
	t.Helper()
	run := exec.Command("git", "apply", "-")
	run.Dir, run.Stdin = dir, strings.NewReader(s.diff)
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v: %s\n%s", err, output, s.diff)
	}
}

// After each diff of the README, `make test` prints the failure that the README announces, and little more.
// After the last one it passes.
func TestSteps(t *testing.T) {
	ticket := newTicket(t)
	if left, _ := call(ticket, "grep", "-rilE", "widget|example.com/mine|mine.example.com", "."); left != "" {
		t.Errorf("the old names are left in %s", left)
	}
	promised := 0
	for _, s := range stepsOf(t, ticket) {
		if s.apply(t, ticket); s.failure == "" {
			continue
		}
		promised++
		output, err := call(ticket, "make", "test")
		if err == nil || !strings.Contains(output, s.failure) {
			t.Errorf("make test does not say %q (error %v):\n%s", s.failure, err, output)
		}
		if lines := strings.Count(output, "\n"); lines > 50 {
			t.Errorf("it says %d lines:\n%s", lines, output)
		}
	}
	if promised != 6 {
		t.Errorf("the README promises %d failures, want 6", promised)
	}
	if output, err := call(ticket, "make", "test"); err != nil {
		t.Errorf("after the last step: %v: %s", err, output)
	}
	if unformatted, err := call(ticket, "gofmt", "-l", "."); err != nil || unformatted != "" {
		t.Errorf("gofmt would change %s (%v)", unformatted, err)
	}
}

// Each kind either gives a program that compiles, or writes nothing.
func TestHostileKinds(t *testing.T) {
	t.Parallel()
	kinds := strings.Fields(`Break Case Chan Const Continue Default Defer Else Fallthrough For Func Go Goto If Import
		Interface Map Package Range Return Select Struct Switch Type Var
		Time Check String Error Len Events Metric Controller Informer Worker Client Reconciler Resource Object Sheep Own W
		WidgetPolicy DNSRecord ConfigMap Deployment List Status`)
	all, refused := t.TempDir(), 0
	for _, kind := range kinds {
		dir := filepath.Join(all, kind)
		variables := []string{"DIR=" + dir, "KIND=" + kind, "GROUP=widgets.example.com"}
		if kind == "Sheep" {
			variables = append(variables, "PLURAL=sheep")
		}
		if _, err := beginWith("new", variables...); err != nil {
			refused++
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s is refused (%v), and %s is written", kind, err, dir)
			}
			continue
		}
		// One module has all of them, so that one command checks them.
		for _, file := range []string{"go.mod", "go.sum"} {
			if err := os.Rename(filepath.Join(dir, file), filepath.Join(all, file)); err != nil {
				t.Fatal(err)
			}
		}
		if definition := contents(t, filepath.Join(dir, "config/crd.yaml")); !strings.Contains(definition, "kind: "+kind+",") {
			t.Errorf("config/crd.yaml is not of %s:\n%s", kind, definition)
		}
	}
	if refused > 3 {
		t.Errorf("%d of %d kinds are refused, want 3 at most", refused, len(kinds))
	}
	if output, err := call(all, "go", "vet", "./..."); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

func replace(t *testing.T, dir, file, before, after string) {
	t.Helper()
	file = filepath.Join(dir, file)
	text := contents(t, file)
	if strings.Count(text, before) != 1 {
		t.Fatalf("%s has %q %d times, want once", file, before, strings.Count(text, before))
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, before, after, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
