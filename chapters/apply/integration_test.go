//go:build integration

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/chapters/internal/chaptertest"
)

// The CRD of Foos is the core's. Right after it is installed the server may answer 429.
func TestMain(m *testing.M) {
	os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs, "kubectl get foos --all-namespaces"))
}

// inCluster is a world on a real API server, in a separate namespace.
func inCluster(t *testing.T, way string) *world {
	t.Parallel()
	c := chaptertest.New(t)
	return newWorld(t, c.Config, c.Namespace, way)
}

// TestFourWays checks the README's table. Without controllers the counts are exact. The
// Deployment controller's writes add conflicts with an Update, and events that repeat a rejected apply.
func TestFourWays(t *testing.T) {
	for _, row := range rows(t) {
		t.Run(row[1], func(t *testing.T) {
			conflicts, _ := strconv.Atoi(row[2])
			got := inCluster(t, row[1]).measure(row[1], conflicts)
			if t.Log(got); got != row[0] {
				t.Errorf("want %s", row[0])
			}
		})
	}
}

// document returns a Deployment as JSON. Its argument lists fields: "SPEC;CONTAINER;METADATA", in which
// the last ones may be missing.
func document(what string) string {
	parts := strings.Split(what+";;", ";")
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{%s"name":"d"},"spec":{%s"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{%s,"image":"c"}]}}}}`, parts[2], parts[0], cmp.Or(parts[1], `"name":"c"`))
}

// step is one client's action: it applies a document, unless who names another way: "a by update".
type step struct{ who, what string }

func (w *world) do(s step) (err error) {
	manager, how, _ := strings.Cut(s.who, " by ")
	text := document(s.what)
	switch {
	case manager == "autoscaler":
		w.scale(s.what)
	case manager == "foo": // This program. When it gives the number away, the autoscaler writes first.
		if w.way = how; s.what == "gives" {
			w.foo.Spec.Replicas = nil
			w.meanwhile(func() { w.scale(6) })
		}
		err = w.reconcile()
	case how == "strategic":
		w.patch(manager, types.StrategicMergePatchType, text)
	case how == "update": // built from scratch: no resourceVersion
		anew := &appsv1.Deployment{}
		_ = json.Unmarshal([]byte(text), anew)
		_, err = w.deployments.Update(w.Context(), anew, metav1.UpdateOptions{FieldManager: manager})
	default:
		_, err = w.deployments.Patch(w.Context(), "d", types.ApplyPatchType, []byte(text), metav1.PatchOptions{FieldManager: manager, Force: new(how == "force")})
	}
	return err
}

const five, six = `"replicas":5,`, `"replicas":6,`

// Each row of TestApply is a property of server-side apply, or a mistake: the clients' steps, the
// last one's error, and then the number of replicas, its owners, and the containers.
func TestApply(t *testing.T) {
	for _, test := range []struct {
		reason      string
		steps       []step
		error, want string
	}{
		{"a field that is not applied any more is removed, whatever else is sent", []step{{"a", five}, {"a", `"minReadySeconds":1,`}}, "", "1 [] [c]"},
		{"it stays if the autoscaler has written it", []step{{"a", five}, {"autoscaler", "6"}, {"a", ""}}, "", "6 [autoscaler Update] [c]"},
		{"an Update that changes nothing owns nothing", []step{{"a", five}, {"autoscaler", "5"}, {"a", ""}}, "", "1 [] [c]"},
		{"both own the same number, so it is handed over", []step{{"a", five}, {"b", five}, {"a", ""}}, "", "5 [b Apply] [c]"},
		{"handed over by an edit, which conflicts with a write", []step{{"foo by apply", ""}, {"foo by apply", "gives"}}, "the object has been modified", "6 [autoscaler Update] [nginx]"},
		{"a conflict: nothing is applied", []step{{"a", five}, {"autoscaler", "6"}, {"a", five + `;"name":"new"`}},
			`conflict with "autoscaler" with subresource "scale" using apps/v1: .spec.replicas`, "6 [autoscaler Update] [c]"},
		{"force takes it from all other owners", []step{{"a", five}, {"b", five}, {"c by force", six}}, "", "6 [c Apply] [c]"},
		{"a new name: the old one's fields stay", []step{{"a-v1", five}, {"a-v2", ""}}, "", "5 [a-v1 Apply] [c]"},
		{"after an Update by the same manager, an apply does not remove it", []step{{"b", ""}, {"a by update", five}, {"a", five}, {"a", ""}}, "", "5 [a Update] [c]"},
		{"migrated, it is owned once", []step{{"foo by update", ""}, {"foo by apply", ""}}, "", "2 [byhand-apply Apply] [nginx]"},
		{"an Update of an object built from scratch", []step{{"a", five + `;"name":"sidecar","image":"c"},{"name":"c"`}, {"b by update", ""}}, "", "1 [b Update] [c]"},
		{"an object that was read cannot be applied", []step{{"a", five}, {"a", `;;"managedFields":[{"manager":"a"}],`}}, "metadata.managedFields must be nil", "5 [a Apply] [c]"},
		{"an empty map is a field", []step{{"a", `;;"labels":{},`}, {"b", `;;"labels":{},`}}, `conflict with "a": .metadata.labels`, "1 [] [c]"},
		{"an item that is not applied any more is removed", []step{{"a", ""}, {"a", `;"name":"new"`}}, "", "1 [] [new]"},
		{"a strategic merge patch keeps it", []step{{"a", ""}, {"a by strategic", `;"name":"new"`}}, "", "1 [] [new c]"},
		{"a list without keys is one field", []step{{"a", `;"name":"c","args":["a"]`}, {"b", `;"name":"c","args":["b"]`}}, `.spec.template.spec.containers[name="c"].args`, "1 [] [c]"},
		{"another owner's Deployment is not changed", []step{{"a", five}, {"foo by apply", ""}}, "belongs to another owner", "5 [a Apply] [c]"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := inCluster(t, "apply")
			var err error
			for i := 0; err == nil && i < len(test.steps); i++ {
				err = w.do(test.steps[i])
				// The Deployment controller writes, too.
				for test.error == "" && apierrors.IsConflict(err) {
					err = w.do(test.steps[i])
				}
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
			got := fmt.Sprint(*w.get().Spec.Replicas, owners, containers)
			if got != test.want || !strings.Contains(fmt.Sprint(err), cmp.Or(test.error, "<nil>")) {
				t.Errorf("%s, error %v, want %s, %q", got, err, test.want, test.error)
			}
		})
	}
}

// TestConditions has two programs apply a condition each. A merge patch replaces the list. A
// strategic merge patch needs the kind's Go type, which a custom resource lacks.
func TestConditions(t *testing.T) {
	w := inCluster(t, "apply")
	got := ""
	for i, kind := range []types.PatchType{types.ApplyPatchType, types.ApplyPatchType, types.MergePatchType, types.StrategicMergePatchType} {
		text := fmt.Appendf(nil, `{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","status":{"conditions":[
			{"type":"C%d","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, i)
		foo, err := w.foos.Foos(w.foo.Namespace).Patch(t.Context(), "foo", kind, text, metav1.PatchOptions{FieldManager: fmt.Sprint("program-", i)}, "status")
		got += fmt.Sprintln(len(foo.Status.Conditions), apierrors.ReasonForError(err))
	}
	if want := "1 \n2 \n1 \n0 UnsupportedMediaType\n"; got != want {
		t.Errorf("conditions and errors:\n%s\nwant\n%s", got, want)
	}
}

func TestReadme(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	script, account := c.Readme(c.Here()), c.AccountWith("byhand-apply")
	for i, command := range script.Commands {
		script.Commands[i] = strings.ReplaceAll(command, "bin/apply", chaptertest.Binary())
	}
	c.Kubectl("apply", "-f", "../../config/samples/foo.yaml")
	start := func(way string) *chaptertest.Program {
		script.Take("make chapter CHAPTER=apply")
		p := c.Start("--kubeconfig", account, "--namespace", c.Namespace, "--way", way, "--beside", "200ms")
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

	start("merge")
	script.Run("kubectl patch deployment", "patched")
	script.Run("kubectl patch foo", "patched")
	script.Run("kubectl get deployment example-foo -o jsonpath", "[nginx]\n")
	script.Run("kubectl get deployment example-foo -o json", manager+" Update")
	if output, err := script.Shell("echo {} | " + chaptertest.Binary() + " --owners"); err == nil || !strings.Contains(output, "--show-managed-fields") {
		t.Errorf("an object without managedFields: %v, %s", err, output)
	}
}

// TestRights: the program needs exactly the permissions of config/rbac. TestReadme uses the same role, so the
// two do not run in parallel.
func TestRights(t *testing.T) {
	c := chaptertest.New(t)
	account := c.ExactAccount("byhand-apply", "update foos/finalizers")
	start := func(args ...string) *chaptertest.Program {
		return c.Start(append(args, "--kubeconfig", account, "--namespace", c.Namespace)...)
	}
	written := func(way string, generation int) {
		c.Kubectl("wait", fmt.Sprint("--for=jsonpath={.status.observedGeneration}=", generation), "foo/"+way, "--timeout=120s")
	}
	for _, way := range []string{"update", "merge", "strategic", "apply"} {
		p := start("--way", way)
		c.Apply(fmt.Sprintf(`{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":{"name":%q},"spec":{"deploymentName":%q}}`, way, way))
		written(way, 1) // a new Deployment
		c.Kubectl("patch", "foo", way, "--type=merge", "-p", `{"spec":{"replicas":2}}`)
		written(way, 2) // an existing one
		p.Stop()
	}
	beside := start("--beside", "200ms")
	beside.Prints(1, "PUT .*/scale → 200")
	beside.Stop()
}
