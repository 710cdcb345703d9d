//go:build mutants

package main

import (
	"os"
	"path/filepath"
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
		{"another type in the schema", crd, "type: integer, format: int32, minimum", "type: string, minimum", crd + `: Ticket.spec.replicas: Go has int32, which is "integer int32" on the wire; the schema says "string"`},
		{"a sample that is refused", sample, "  text: hello\n", "", sample + ": the API server rejects it: spec.text: Required value"},
		{"a right too few", role, "[configmaps], verbs: [list, watch, create, update]", "[configmaps], verbs: [list, watch, create]", role + ` does not allow: apiGroups: [""], resources: [configmaps], verbs: [update]`},
		{"a role misspelt", role, "resources: [tickets]", "resource: [tickets]", role + ": "},
		{"an informer that does not run", "main.go", "range informers {\n\t\t\trunning", "range informers[:1] {\n\t\t\trunning", "main.go"},
		{"the store's object changed", "reconcile.go", "before.DeepCopyObject().(T)", "before", "reconcile.go has changed an object of the cache of configmaps, which is shared"},
		{"a write each time", "reconcile.go", "exists && equality.Semantic.DeepEqual(before, desired)", "false", "reconcile.go writes although nothing has changed"},
		{"another selector", "informer.go", "opts.LabelSelector = label", `opts.LabelSelector = label + "s"`, "no informer sees configmaps/example, which has the labels map[desk.example.com/ticket:]"},
		{"another's object written", "reconcile.go", "if !metav1.IsControlledBy(before, w) {", "if false {", `the ConfigMap has the text "hello", want "theirs"`},
		{"a write that is not awaited", "reconcile.go", "r.Writes.Await(cache.MetaObjectToName(w), store, after)", "_ = after", "reconcile.go sends POST configmaps again, while the cache of configmaps does not show"},
	}
	// One program contains each mistake inside a Go function. Without a selected one it tests the mistakes in
	// other files.
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

// After each diff of the README that leaves work to do, `make test` prints the failure that the README
// announces, and little more.
func TestFailures(t *testing.T) {
	ticket, promised := newTicket(t), 0
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
