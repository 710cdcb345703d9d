package observer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/observe/trace"
)

func foo(version string) *v1alpha1.Foo {
	return &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo", UID: "uid", ResourceVersion: version},
		Spec: v1alpha1.FooSpec{DeploymentName: "d"}}
}

func project(version string) *examplesv1alpha1.Project {
	return &examplesv1alpha1.Project{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo", ResourceVersion: version}}
}

// deployment is the Foo's, or has no controller.
func deployment(version string, ours bool) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d", UID: "uid-d", ResourceVersion: version,
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		Annotations:   map[string]string{corev1.LastAppliedConfigAnnotation: "everything again", "note": "a person's", v1alpha1.GroupName + "/kept": "yes"}}}
	if ours {
		d.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(foo("1"), v1alpha1.SchemeGroupVersion.WithKind("Foo"))}
	}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Args: []string{"--token=hunter2"}, Env: []corev1.EnvVar{
		{Name: "PASSWORD", Value: "hunter2"},
		{Name: "FROM", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
	}}}
	return d
}

// Each store event becomes a step with its What, Log, owner and cause, and reaches the
// next handler.
func TestHandler(t *testing.T) {
	r, queue := traced()
	defer queue.ShutDown()
	foos := cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.FooIndexers())
	if err := foos.Add(foo("1")); err != nil {
		t.Fatal(err)
	}
	ofFoos := r.handler(fooKind, controller.EnqueueObject(queue))
	ofDeployments := r.handler(deploymentKind, controller.EnqueueOwner(queue, v1alpha1.Kind("Foo"), informer.FoosNaming(foos)))
	ofProjects := r.handler(projectKind, cache.ResourceEventHandlerFuncs{})
	r.own.add("Foo", "2", 41)
	r.own.add("Deployment", "uid-d", 42)
	r.received.add("Foo", "3", 43)
	r.kinds["Foo"].listed = 44

	type got struct {
		What, Kind, Key, For, Version, Cause, Log string
		Echo                                      bool
		CauseSeq                                  int64
	}
	for _, test := range []struct {
		reason string
		event  func()
		want   got
		adds   bool
	}{
		{"in the first list", func() { ofFoos.OnAdd(foo("1"), true) }, got{What: trace.Added, Version: "1", Cause: "the first list", CauseSeq: 44, Log: "found"}, true},
		{"new", func() { ofFoos.OnAdd(foo("1"), false) }, got{What: trace.Added, Version: "1", Log: "added"}, true},
		{"our own write", func() { ofFoos.OnUpdate(foo("1"), foo("2")) }, got{What: trace.Updated, Version: "2", Cause: "our own write", CauseSeq: 41, Echo: true}, true},
		{"a resync of an own version", func() { f := foo("2"); ofFoos.OnUpdate(f, f) }, got{What: trace.Resync, Version: "2", Cause: "the resync period"}, true},
		{"an own version in a relist", func() { ofFoos.OnUpdate(foo("2"), foo("2")) },
			got{What: trace.Relisted, Version: "2", Cause: "a list in which it is the same", CauseSeq: 44}, true},
		{"another client's write", func() { ofFoos.OnUpdate(foo("2"), foo("3")) }, got{What: trace.Updated, Version: "3", CauseSeq: 43}, true},
		{"a change that the log shows", func() { ofFoos.OnUpdate(foo("3"), fooThatWants("4", "two")) }, got{What: trace.Updated, Version: "4", Log: "changed"}, true},
		{"deleted", func() { ofFoos.OnDelete(foo("4")) }, got{What: trace.Deleted, Version: "4", Log: "deleted"}, true},
		{"a tombstone", func() { ofFoos.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/foo", Obj: foo("4")}) },
			got{What: trace.Tombstone, Version: "4", Cause: "the list no longer has it", CauseSeq: 44, Log: "deleted"}, true},
		{"our Deployment", func() { ofDeployments.OnAdd(deployment("5", true), false) }, got{What: trace.Added, Kind: "Deployment", Version: "5", Log: "added"}, true},
		{"our DELETE", func() { ofDeployments.OnDelete(deployment("6", true)) },
			got{What: trace.Deleted, Kind: "Deployment", Version: "6", Cause: "our own write", CauseSeq: 42, Echo: true, Log: "deleted"}, true},
		{"a Deployment that a Foo only names", func() { ofDeployments.OnAdd(deployment("7", false), false) }, got{What: trace.Added, Kind: "Deployment", Version: "7"}, true},
		{"a Project", func() { ofProjects.OnAdd(project("8"), false) }, got{What: trace.Added, Kind: "Project", Key: "default/foo", Version: "8", Log: "added"}, false},
	} {
		told(r)
		test.event()
		past := kept(r)
		step := past[0]
		switch {
		case test.want.Kind == "":
			test.want.Kind, test.want.Key = "Foo", "default/foo"
		case test.want.Kind == "Deployment":
			test.want.Key = "default/d"
		}
		if test.want.Kind != "Project" {
			test.want.For = "Foo default/foo"
		}
		if diff := cmp.Diff(test.want, got{step.What, step.Kind, step.Key, step.For, step.Version, step.Cause, step.Log, step.Echo, step.CauseSeq}); diff != "" {
			t.Errorf("%s: step (-want +got):\n%s", test.reason, diff)
		}
		if adds := len(past) > 1 && past[1].Part == trace.PartQueue && past[1].CauseSeq == step.Seq; adds != test.adds {
			t.Errorf("%s: the event adds a key: %t, want %t", test.reason, adds, test.adds)
		}
	}
}

// Only visible fields of an object are shown. The object itself stays unchanged.
func TestRender(t *testing.T) {
	r := observing()
	r.kinds["Foo"].isReconciled = true
	d := deployment("1", true)
	before := d.DeepCopy()
	var shown appsv1.Deployment
	text := r.render(r.kinds["Deployment"], open(d), objectLimit)
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, d); diff != "" {
		t.Errorf("the object was changed (-before +after):\n%s", diff)
	}
	for _, secret := range []string{"hunter2", "managedFields", "everything again", "PASSWORD", "--token", "a person's"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is shown in %s", secret, text)
		}
	}
	if shown.Kind != "Deployment" || shown.Annotations[v1alpha1.GroupName+"/kept"] != "yes" || shown.Spec.Template.Spec.Containers[0].Name != "c" || shown.OwnerReferences == nil {
		t.Errorf("something is missing in %s", text)
	}
	applied := foo("1")
	applied.Annotations = map[string]string{"long": strings.Repeat("x", objectLimit)}
	if text := string(r.render(r.kinds["Foo"], open(applied), objectLimit)); !strings.Contains(text, `"deploymentName":"d"`) || strings.Contains(text, "long") {
		t.Errorf("of a Foo %s is shown", text)
	}
	applied.Spec.DeploymentName = strings.Repeat("x", objectLimit)
	ofOtherGroup := deployment("1", true)
	ofOtherGroup.OwnerReferences[0].APIVersion = "other.io/v1"
	for reason, hidden := range map[string]json.RawMessage{
		"an object of another kind":         r.render(nil, open(&corev1.Secret{Data: map[string][]byte{"k": []byte("v")}}), objectLimit),
		"a Deployment without a controller": r.render(r.kinds["Deployment"], open(deployment("1", false)), objectLimit),
		"another group's Foo's Deployment":  r.render(r.kinds["Deployment"], open(ofOtherGroup), objectLimit),
		"an object that is long":            r.render(r.kinds["Foo"], open(applied), objectLimit),
		"nothing":                           r.render(r.kinds["Foo"], open(nil), objectLimit),
	} {
		if hidden != nil {
			t.Errorf("%s is shown: %.100s", reason, hidden)
		}
	}
}
