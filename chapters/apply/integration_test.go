//go:build integration

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/chapters/internal/chaptertest"
)

// The CRD of Foos is the core's. Right after it is installed the server may answer 429.
func TestMain(m *testing.M) {
	os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs, "kubectl get foos --all-namespaces"))
}

// The README's table. Without controllers the counts are just these. The Deployment controller
// writes as well: an Update conflicts with that, and a refused apply is sent again after it.
func TestFourWays(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for way, want := range table {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c := chaptertest.New(t)
			name, _, force := strings.Cut(way, " ")
			got := newWorld(t, c.Config, c.Namespace, name, force).measure()
			t.Logf("| `%s` | %s | %d | %d | %s |", way, got.wins, got.requests, got.conflicts, got.lost)
			if got.wins != want.wins || got.lost != want.lost || got.conflicts < want.conflicts ||
				got.requests-got.conflicts != want.requests-want.conflicts {
				t.Errorf("%v, want %v, or more conflicts", got, want)
			}
			if row := fmt.Sprintf("| `%s` | %s | %d | %d | %s |", way, want.wins, want.requests, want.conflicts, want.lost); !strings.Contains(string(readme), row) {
				t.Errorf("the README has no row %s", row)
			}
		})
	}
}

// document is what the clients below send: a Deployment with these fields of its spec and, after
// semicolons, of its container and its metadata.
func document(what string) string {
	parts := strings.Split(what+";;", ";")
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{%s"name":"d"},"spec":{%s"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{%s,"image":"c"}]}}}}`, parts[2], parts[0], cmp.Or(parts[1], `"name":"c"`))
}

// step is what one client does. It applies a document under its name, by force after a !, but
// for those that do knows.
type step struct{ who, what string }

func (w *world) do(s step) (err error) {
	manager, force := strings.CutSuffix(s.who, "!")
	kind, text := types.ApplyPatchType, []byte(document(s.what))
	switch replicas, _ := strconv.Atoi(s.what); s.who {
	case "autoscaler":
		w.scale(replicas)
		return nil
	case "creator": // By POST, which the API server records as an Update.
		created := &appsv1.Deployment{}
		w.must(json.Unmarshal(text, created))
		_, err = w.deployments.Create(w.Context(), created, metav1.CreateOptions{FieldManager: "byhand-apply"})
		return err
	case "editor": // As this program does, and perhaps an autoscaler is faster.
		text, err = editOwners(w.get(), s.what != "")
		w.must(err)
		if replicas > 0 {
			w.scale(replicas)
		}
		kind = types.JSONPatchType
	case "strategist":
		kind = types.StrategicMergePatchType
	case "reader": // It applies what it has read.
		live := w.get()
		live.APIVersion, live.Kind = "apps/v1", "Deployment"
		text, err = json.Marshal(live)
		w.must(err)
	}
	options := metav1.PatchOptions{FieldManager: manager}
	if kind == types.ApplyPatchType {
		options.Force = &force
	}
	_, err = w.deployments.Patch(w.Context(), "d", kind, text, options)
	return err
}

const five, six = `"replicas":5,`, `"replicas":6,`

// Each row is a property of server-side apply, or a mistake: what clients do, what the error of
// the last one says, and then the number of replicas, who owns it, and the containers.
func TestApply(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason      string
		steps       []step
		error, want string
	}{
		{"a field that is not sent any more goes, and the default is 1", []step{{"a", five}, {"a", ""}}, "", "1 [] [c]"},
		{"also if another part of the program sent it", []step{{"a", five}, {"a", `"minReadySeconds":1,`}}, "", "1 [] [c]"},
		{"it stays if the autoscaler has written it", []step{{"a", five}, {"autoscaler", "6"}, {"a", ""}}, "", "6 [autoscaler Update] [c]"},
		{"an Update that changes nothing owns nothing", []step{{"a", five}, {"autoscaler", "5"}, {"a", ""}}, "", "1 [] [c]"},
		{"the same number is owned by both", []step{{"a", five}, {"b", five}}, "", "5 [a Apply b Apply] [c]"},
		{"handed over by a second manager", []step{{"a", five}, {"b", five}, {"a", ""}}, "", "5 [b Apply] [c]"},
		{"handed over by an edit", []step{{"byhand-apply", five}, {"editor", "gives"}, {"byhand-apply", ""}}, "", "5 [] [c]"},
		{"an edit meets another write", []step{{"byhand-apply", five}, {"editor", "6"}}, "the object has been modified", "6 [autoscaler Update] [c]"},
		{"a conflict: nothing is applied", []step{{"a", five}, {"autoscaler", "6"}, {"a", five + `;"name":"new"`}},
			`conflict with "autoscaler" with subresource "scale" using apps/v1: .spec.replicas`, "6 [autoscaler Update] [c]"},
		{"a conflict of two that apply", []step{{"a", five}, {"b", six}}, `conflict with "a": .spec.replicas`, "5 [a Apply] [c]"},
		{"force takes it from all others", []step{{"a", five}, {"b", five}, {"c!", six}}, "", "6 [c Apply] [c]"},
		{"a new name: what the old one owns stays", []step{{"a-v1", five}, {"a-v2", ""}}, "", "5 [a-v1 Apply] [c]"},
		{"after an Update of the same name, too", []step{{"creator", five}, {"byhand-apply", five}, {"byhand-apply", ""}}, "", "5 [byhand-apply Update] [c]"},
		{"migrated, it goes", []step{{"creator", five}, {"editor", ""}, {"byhand-apply", ""}}, "", "1 [] [c]"},
		{"what was read cannot be applied", []step{{"a", five}, {"reader", ""}}, "metadata.managedFields must be nil", "5 [a Apply] [c]"},
		{"an empty map is a field", []step{{"a", `;;"labels":{},`}, {"b", `;;"labels":{},`}}, `conflict with "a": .metadata.labels`, "1 [] [c]"},
		{"an item that is not sent any more goes", []step{{"a", ""}, {"a", `;"name":"new"`}}, "", "1 [] [new]"},
		{"by a strategic merge patch it stays", []step{{"a", ""}, {"strategist", `;"name":"new"`}}, "", "1 [] [new c]"},
		{"a list without keys is one field", []step{{"a", `;"name":"c","args":["a"]`}, {"b", `;"name":"c","args":["b"]`}}, `.spec.template.spec.containers[name="c"].args`, "1 [] [c]"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			c := chaptertest.New(t)
			w := newWorld(t, c.Config, c.Namespace, "apply", false)
			var err error
			for _, step := range test.steps {
				w.must(err)
				err = w.do(step)
			}
			if err == nil && test.error != "" || err != nil && (test.error == "" || !strings.Contains(err.Error(), test.error)) {
				t.Errorf("error %v, want %q", err, test.error)
			}
			var owners, containers []string
			for _, entry := range w.get().ManagedFields {
				if strings.Contains(entry.FieldsV1.GetRawString(), `"f:replicas"`) && entry.Subresource != "status" {
					owners = append(owners, entry.Manager+" "+string(entry.Operation))
				}
			}
			for _, container := range w.get().Spec.Template.Spec.Containers {
				containers = append(containers, container.Name)
			}
			slices.Sort(owners)
			if got := fmt.Sprint(*w.get().Spec.Replicas, owners, containers); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// Two programs apply a condition each. A merge patch replaces the list.
func TestConditions(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	w := newWorld(t, c.Config, c.Namespace, "apply", false)
	condition := func(kind string) *applyconfiguration.FooApplyConfiguration {
		return applyconfiguration.Foo("foo", c.Namespace).WithStatus(applyconfiguration.FooStatus().WithConditions(metav1ac.Condition().
			WithType(kind).WithStatus("True").WithReason("R").WithMessage("").WithLastTransitionTime(metav1.Now())))
	}
	_, err := w.foos.ApplyStatus(t.Context(), condition("A"), metav1.ApplyOptions{FieldManager: "a"})
	w.must(err)
	applied, err := w.foos.ApplyStatus(t.Context(), condition("B"), metav1.ApplyOptions{FieldManager: "b"})
	w.must(err)
	text, err := json.Marshal(condition("C"))
	w.must(err)
	patched, err := w.foos.Patch(t.Context(), "foo", types.MergePatchType, text, metav1.PatchOptions{}, "status")
	w.must(err)
	if len(applied.Status.Conditions) != 2 || len(patched.Status.Conditions) != 1 {
		t.Errorf("%d conditions, after a merge patch %d, want 2 and 1", len(applied.Status.Conditions), len(patched.Status.Conditions))
	}
}

// The commands of the README do what it says. The rights in config/rbac are enough for it.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig, asAccount := c.Here(), c.AccountWith("byhand-apply")
	script := c.Readme(kubeconfig)
	script.Dir = t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(script.Dir, "bin"), 0o700), os.Symlink(chaptertest.Binary(), filepath.Join(script.Dir, "bin/apply"))); err != nil {
		t.Fatal(err)
	}
	c.Kubectl("apply", "-f", "../../config/samples/foo.yaml")
	start := func(way string) *chaptertest.Program {
		script.Take("make chapter CHAPTER=apply")
		p := c.Start("--kubeconfig", asAccount, "--namespace", c.Namespace, "--way", way, "--beside", "200ms")
		p.Prints(1, "ready: ")
		return p
	}

	p := start("apply")
	script.Run("kubectl get deployment example-foo -o json", manager+" Apply", "autoscaler Update scale\n    .spec.replicas\n")
	script.Run("kubectl patch foo", "patched")
	p.Prints(1, `Nothing is applied.*conflict with \\"autoscaler\\"`)
	script.Run("kubectl get foo", "2 1\n")
	script.Run("kubectl patch foo", "patched")
	script.Run("kubectl get foo", "3 3\n")
	p.Stop()

	p = start("merge")
	script.Run("kubectl patch deployment", "patched")
	script.Run("kubectl patch foo", "patched")
	script.Run("kubectl get deployment example-foo -o jsonpath", "nginx\n")
	script.Run("kubectl get deployment example-foo -o json", manager+" Update")
	if output := p.Output(); strings.Contains(strings.ToLower(output), "forbidden") {
		t.Errorf("a right is missing:\n%s", output)
	}
}

// A mistake in the command line gets one line that says what to do, and exit code 1.
func TestMistakes(t *testing.T) {
	t.Parallel()
	chaptertest.Mistakes(t, map[string][]string{
		"--way is update":            {"--way=replace"},
		"--force needs --way=apply":  {"--way=merge", "--force"},
		"--beside is 0 or more":      {"--beside=-1s"},
		"no arguments":               {"default/example-foo"},
		"--owners wants an object":   {"--owners"},
		"cannot read the kubeconfig": {"--kubeconfig=/nowhere/config"},
	})
}
