package clientset_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
)

// Each call of the client, and the request that it sends.
func TestFooRequests(t *testing.T) {
	const (
		path    = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/shop/foos"
		allPath = "/apis/samplecontroller.k8s.io/v1alpha1/foos"
		apiKind = `"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo"`
		fooJSON = `{` + apiKind + `, "metadata": {"namespace": "shop", "name": "one", "resourceVersion": "7"},
			"spec": {"deploymentName": "web", "replicas": 0}, "status": {"replicas": 2, "availableReplicas": 0}}`
		listJSON = `{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "FooList", "metadata": {"resourceVersion": "9", "continue": "more"},
			"items": [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]}`
		eventJSON = `{"type": "ADDED", "object": ` + fooJSON + `}`
		success   = `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`
		// A DELETE always has a body, which names the kind of the options.
		deleteJSON = `{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "DeleteOptions"`
		patchJSON  = `{"spec": {"replicas": 5}}`
		// Fields that are not set are not sent: a 0 would take the replicas from their owner.
		applyJSON = `{` + apiKind + `, "metadata": {"namespace": "shop", "name": "one"}, "spec": {"deploymentName": "web"}}`
		apply     = "application/apply-patch+yaml"
	)
	foo := &v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "one", ResourceVersion: "7"},
		Spec:       v1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(0))},
		Status:     v1alpha1.FooStatus{Replicas: 2},
	}
	list := &v1alpha1.FooList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"},
		Items: []v1alpha1.Foo{{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, {ObjectMeta: metav1.ObjectMeta{Name: "two"}}}}
	applied := applyconfiguration.Foo("one", "shop")
	applied.Spec = &applyconfiguration.FooSpecApplyConfiguration{DeploymentName: new("web")}

	s, ctx := &recorder{}, t.Context()
	client := newClient(t, serve(t, s.ServeHTTP)).SamplecontrollerV1alpha1()
	foos, allFoos := client.Foos("shop"), client.Foos("")
	testRequests(t, s, foos, []request{{
		name:  "Create",
		call:  func() (any, error) { return foos.Create(ctx, foo, metav1.CreateOptions{}) },
		sends: "POST " + path, body: fooJSON, reply: fooJSON, want: foo,
	}, {
		name: "Create with options",
		call: func() (any, error) {
			return foos.Create(ctx, foo, metav1.CreateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Strict"})
		},
		sends: "POST " + path + "?dryRun=All&fieldManager=me&fieldValidation=Strict", body: fooJSON, reply: fooJSON, want: foo,
	}, {
		name:  "Update",
		call:  func() (any, error) { return foos.Update(ctx, foo, metav1.UpdateOptions{}) },
		sends: "PUT " + path + "/one", body: fooJSON, reply: fooJSON, want: foo,
	}, {
		name: "Update with options",
		call: func() (any, error) {
			return foos.Update(ctx, foo, metav1.UpdateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Warn"})
		},
		sends: "PUT " + path + "/one?dryRun=All&fieldManager=me&fieldValidation=Warn", body: fooJSON, reply: fooJSON, want: foo,
	}, {
		// The status has its own URL. Update would return 200 without changing the status.
		name:  "UpdateStatus",
		call:  func() (any, error) { return foos.UpdateStatus(ctx, foo, metav1.UpdateOptions{FieldManager: "me"}) },
		sends: "PUT " + path + "/one/status?fieldManager=me", body: fooJSON, reply: fooJSON, want: foo,
	}, {
		name:  "Delete",
		call:  func() (any, error) { return nil, foos.Delete(ctx, "one", metav1.DeleteOptions{}) },
		sends: "DELETE " + path + "/one", body: deleteJSON + `}`, reply: success,
	}, {
		// Without preconditions, a new object with the same name would be deleted. Only the body has them.
		name: "Delete with options",
		call: func() (any, error) {
			return nil, foos.Delete(ctx, "one", metav1.DeleteOptions{
				PropagationPolicy: new(metav1.DeletePropagationForeground),
				Preconditions:     &metav1.Preconditions{UID: new(types.UID("abc")), ResourceVersion: new("7")},
				DryRun:            []string{"All"},
			})
		},
		sends: "DELETE " + path + "/one", reply: success,
		body: deleteJSON + `, "propagationPolicy": "Foreground", "preconditions": {"uid": "abc", "resourceVersion": "7"}, "dryRun": ["All"]}`,
	}, {
		// Without the selector in the query, the request would delete all Foos in the namespace.
		name: "DeleteCollection with options",
		call: func() (any, error) {
			return nil, foos.DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)},
				metav1.ListOptions{LabelSelector: "app=web", TimeoutSeconds: new(int64(30))})
		},
		sends: "DELETE " + path + "?labelSelector=app%3Dweb&timeoutSeconds=30&timeout=30s",
		body:  deleteJSON + `, "propagationPolicy": "Orphan"}`, reply: success,
	}, {
		name:  "Get",
		call:  func() (any, error) { return foos.Get(ctx, "one", metav1.GetOptions{}) },
		sends: "GET " + path + "/one", reply: fooJSON, want: foo,
	}, {
		// A name is escaped, so that it cannot change the URL's path or query.
		name:  "Get a name that needs escaping",
		call:  func() (any, error) { return foos.Get(ctx, "one two?a=b#ü", metav1.GetOptions{}) },
		sends: "GET " + path + "/one%20two%3Fa=b%23%C3%BC", reply: fooJSON, want: foo,
	}, {
		name:  "Get with options",
		call:  func() (any, error) { return foos.Get(ctx, "one", metav1.GetOptions{ResourceVersion: "5"}) },
		sends: "GET " + path + "/one?resourceVersion=5", reply: fooJSON, want: foo,
	}, {
		name:  "List",
		call:  func() (any, error) { return foos.List(ctx, metav1.ListOptions{}) },
		sends: "GET " + path, reply: listJSON, want: list,
	}, {
		name:  "List in all namespaces",
		call:  func() (any, error) { return allFoos.List(ctx, metav1.ListOptions{}) },
		sends: "GET " + allPath, reply: listJSON, want: list,
	}, {
		// The REST client adds timeout, and stops waiting after that time.
		name: "List with options",
		call: func() (any, error) {
			return foos.List(ctx, metav1.ListOptions{
				LabelSelector: "app=web", FieldSelector: "metadata.name=one",
				ResourceVersion: "5", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				Limit: 2, Continue: "more", TimeoutSeconds: new(int64(30)),
			})
		},
		sends: "GET " + path + "?labelSelector=app%3Dweb&fieldSelector=metadata.name%3Done&resourceVersion=5&resourceVersionMatch=NotOlderThan" +
			"&limit=2&continue=more&timeoutSeconds=30&timeout=30s", reply: listJSON, want: list,
	}, {
		// Watch sets watch=true itself. Without it the API server would send a list.
		name:  "Watch",
		call:  func() (any, error) { return foos.Watch(ctx, metav1.ListOptions{}) },
		sends: "GET " + path + "?watch=true", reply: eventJSON, want: foo,
	}, {
		name:  "Watch in all namespaces",
		call:  func() (any, error) { return allFoos.Watch(ctx, metav1.ListOptions{}) },
		sends: "GET " + allPath + "?watch=true", reply: eventJSON, want: foo,
	}, {
		// A Reflector requests its first list in this way.
		name: "Watch as a streaming list",
		call: func() (any, error) {
			return foos.Watch(ctx, metav1.ListOptions{SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				AllowWatchBookmarks: true, TimeoutSeconds: new(int64(30))})
		},
		sends: "GET " + path + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" +
			"&timeoutSeconds=30&timeout=30s", reply: eventJSON, want: foo,
	}, {
		name: "Patch",
		call: func() (any, error) {
			return foos.Patch(ctx, "one", types.MergePatchType, []byte(patchJSON), metav1.PatchOptions{FieldManager: "me", FieldValidation: "Ignore"})
		},
		sends:       "PATCH " + path + "/one?fieldManager=me&fieldValidation=Ignore",
		contentType: "application/merge-patch+json", body: patchJSON, reply: fooJSON, want: foo,
	}, {
		name: "Patch a subresource",
		call: func() (any, error) {
			return foos.Patch(ctx, "one", types.MergePatchType, []byte(patchJSON), metav1.PatchOptions{}, "status")
		},
		sends:       "PATCH " + path + "/one/status",
		contentType: "application/merge-patch+json", body: patchJSON, reply: fooJSON, want: foo,
	}, {
		// An apply is a patch with its own content type. force takes fields from other managers.
		name: "Apply",
		call: func() (any, error) {
			return foos.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: "me", Force: true, DryRun: []string{"All"}})
		},
		sends:       "PATCH " + path + "/one?fieldManager=me&force=true&dryRun=All",
		contentType: apply, body: applyJSON, reply: fooJSON, want: foo,
	}, {
		name:        "ApplyStatus",
		call:        func() (any, error) { return foos.ApplyStatus(ctx, applied, metav1.ApplyOptions{FieldManager: "me"}) },
		sends:       "PATCH " + path + "/one/status?fieldManager=me&force=false",
		contentType: apply, body: applyJSON, reply: fooJSON, want: foo,
	}})
}
