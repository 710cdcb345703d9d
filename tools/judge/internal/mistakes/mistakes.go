// Package mistakes lists typical mistakes in a Foo controller, and the judge's words about each. A mistake
// changes one place of the exercise's solution.
package mistakes

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/byhand/internal/run/plane"
	"example.com/byhand/internal/tests/mistake"
)

// Mistake is a typical mistake.
type Mistake struct {
	Name string
	// After replaces Before in the solution's source.
	Before, After string
	// Scenario finds it: in memory or, if Real, only on a control plane.
	Scenario string
	Real     bool
	// Script is the scenario of a script that finds it, or "".
	Script string
	// Says is part of the judge's explanation, and File is the file that does it right.
	Says, File string
}

const (
	handlers   = `controller.EnqueueOwner(queue, v1alpha1.Kind("Foo"), informer.FoosNaming(foos.Store))`
	tombstones = "controller/handlers.go"
	deployment = "controller/foo/deployment.go"
)

// All has the mistakes that the tests make.
var All = []Mistake{
	{Name: "the key has no namespace", Before: `foo.Namespace + "/" + foo.Spec.DeploymentName`, After: `foo.Spec.DeploymentName`,
		Scenario: "scale", Says: "Is the key namespace/name", File: "controller/handlers.go"},
	{Name: "a Deployment of the store is changed", Before: "current.DeepCopy()", After: "current",
		Scenario: "image-changed", Script: "drift", Says: "so change a DeepCopy", File: deployment},
	{Name: "a Foo of the store is changed", Before: "\tfoo = foo.DeepCopy()\n", After: "",
		Scenario: "overloaded", Says: "set in a DeepCopy", File: "controller/foo/status.go"},
	{Name: "no owner reference", Before: "d.OwnerReferences =", After: "_ =",
		Scenario: "create", Says: "the Deployment has no visible owner", File: deployment},
	{Name: "the owner has the kind of a stored Foo", Before: `v1alpha1.SchemeGroupVersion.WithKind("Foo"))`, After: "foo.GroupVersionKind())",
		Scenario: "create", Says: "An object from a store has no kind", File: deployment},
	{Name: "a tombstone is ignored", Before: handlers,
		After:    "cache.FilteringResourceEventHandler{FilterFunc: func(obj any) bool { _, is := obj.(*appsv1.Deployment); return is }, Handler: " + handlers + "}",
		Scenario: "events-missed", Says: "DeletedFinalStateUnknown", File: tombstones},
	{Name: "a tombstone panics", Before: handlers,
		After:    "cache.FilteringResourceEventHandler{FilterFunc: func(obj any) bool { return obj.(*appsv1.Deployment) != nil }, Handler: " + handlers + "}",
		Scenario: "events-missed", Says: "main.go:", File: tombstones},
	{Name: "the status is always written", Before: "foo.Status.AvailableReplicas == available", After: "ctx == nil",
		Scenario: "restart", Script: "restart", Says: "writes the status", File: "controller/foo/status.go"},
	{Name: "the API server's defaults are compared", Before: "!equality.Semantic.DeepEqual(current, desired)", After: "current == nil || !equality.Semantic.DeepEqual(current.Spec, newDeployment(foo, nil).Spec)",
		Scenario: "restart", Real: true, Says: "The API server adds defaults", File: deployment},
	{Name: "a DELETE when the Foo is not found", Before: "if err != nil || !exists ||", After: `if err == nil && !exists {
			err = r.deployments.Deployments(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{})
		}
		if err != nil || !exists ||`,
		Scenario: "deleted-orphan", Says: "The user has asked to keep the Deployment", File: "controller/foo/doc.go"},
	{Name: "errors are dropped", Before: "return 0, errors.Join(", After: "_ = errors.Join(r.writeDeployment(ctx, foo), r.writeStatus(ctx, foo))\n\treturn 0, errors.Join(nil) //",
		Scenario: "rights-taken", Script: "refused-403", Says: "has not retried", File: "controller/controller.go"},
	{Name: "the old Deployment is deleted first", Before: "\tif current == nil {", After: "\tfor _, old := range earlier {\n\t\t_ = client.Delete(ctx, old.Name, metav1.DeleteOptions{})\n\t}\n\tif current == nil {",
		Scenario: "rename", Says: "nothing runs at all", File: deployment},
	{Name: "no WaitForSync", Before: "if err := informer.WaitForSync(ctx, time.Minute, foos, deployments); err != nil {", After: "if err := ctx.Err(); err != nil {",
		Scenario: "no-bookmark", Says: "waits without a timeout", File: "informer/informer.go"},
	{Name: "an informer does not run", Before: "\tgo deployments.Run(ctx)\n\tif err := informer.WaitForSync(ctx, time.Minute, foos, deployments)", After: "\tif err := informer.WaitForSync(ctx, time.Minute, foos)",
		Scenario: "create", Says: "has never listed or watched Deployments", File: "informer/informer.go"},
	{Name: "a foreign Deployment is written", Before: "!metav1.IsControlledBy(current, foo) ||", After: "",
		Scenario: "name-taken", Script: "name-taken", Says: "damages another owner's object", File: "controller/foo/blocked.go"},
	{Name: "no event leads to the Foo that waits for the name", Before: "informer.FoosNaming(foos.Store)", After: "func(metav1.Object) []cache.ObjectName { return nil }",
		Scenario: "name-freed", Says: "no event led it to this object", File: "controller/handlers.go"},
	{Name: "the old Deployment stays", Before: "\tfor _, old := range earlier {\n\t\tif err == nil {", After: "\tfor _, old := range earlier {\n\t\tif false {",
		Scenario: "rename", Script: "fresh-rename", Says: "The old object stays", File: "controller/foo/rename.go"},
	{Name: "the status waits for the write", Before: "return 0, errors.Join(r.writeDeployment(ctx, foo), r.writeStatus(ctx, foo))", After: "if err := r.writeDeployment(ctx, foo); err != nil {\n\t\treturn 0, err\n\t}\n\treturn 0, r.writeStatus(ctx, foo)",
		Scenario: "webhook-down", Says: "While writes fail, users look at the status", File: "controller/foo/reconcile.go"},
	{Name: "repeated writes have no back-off", Before: "r.rewrites.Record(foo, \"Deployment\", current.Name)", After: "_ = current.Name",
		Scenario: "set-back", Script: "set-back", Says: "the event causes the next write", File: "controller/rewrites.go"},
}

// Prepare returns a folder with the solution. Environment selects its mistake.
func Prepare(t testing.TB) (dir string) {
	t.Helper()
	root, err := plane.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "mine")
	begin := exec.Command("make", "-s", "exercise", "DIR="+dir)
	begin.Dir = root
	if output, err := begin.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	texts := map[string]string{}
	for _, m := range All {
		if alone := mistake.Add(t, texts, filepath.Join(root, "tools/new/testdata/solution/main.go"), m.Before, m.After, m.Name); alone != nil {
			t.Fatalf("%s is in no function", m.Name)
		}
	}
	for file, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Environment returns the environment variable that makes the program make this mistake.
func (m *Mistake) Environment() string { return mistake.Variable + "=" + m.Name }
