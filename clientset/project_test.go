package clientset_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
)

// Each call of the client, and the request that it sends. foo_test.go has the comments.
func TestProjectRequests(t *testing.T) {
	const (
		path        = "/apis/examples-gzh.com/v1alpha1/namespaces/shop/projects"
		allPath     = "/apis/examples-gzh.com/v1alpha1/projects"
		apiKind     = `"apiVersion": "examples-gzh.com/v1alpha1", "kind": "Project"`
		projectJSON = `{` + apiKind + `, "metadata": {"namespace": "shop", "name": "one", "resourceVersion": "7"},
			"spec": {"replicas": 2}}`
		listJSON = `{"apiVersion": "examples-gzh.com/v1alpha1", "kind": "ProjectList", "metadata": {"resourceVersion": "9", "continue": "more"},
			"items": [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]}`
		eventJSON  = `{"type": "ADDED", "object": ` + projectJSON + `}`
		success    = `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`
		deleteJSON = `{"apiVersion": "examples-gzh.com/v1alpha1", "kind": "DeleteOptions"`
		patchJSON  = `{"spec": {"replicas": 5}}`
		applyJSON  = `{` + apiKind + `, "metadata": {"namespace": "shop", "name": "one"}, "spec": {"replicas": 2}}`
		apply      = "application/apply-patch+yaml"
	)
	project := &v1alpha1.Project{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "one", ResourceVersion: "7"},
		Spec:       v1alpha1.ProjectSpec{Replicas: 2},
	}
	list := &v1alpha1.ProjectList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"},
		Items: []v1alpha1.Project{{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, {ObjectMeta: metav1.ObjectMeta{Name: "two"}}}}
	applied := applyconfiguration.Project("one", "shop")
	applied.Spec = &applyconfiguration.ProjectSpecApplyConfiguration{Replicas: new(int32(2))}

	s, ctx := &recorder{}, t.Context()
	client := newClient(t, serve(t, s.ServeHTTP)).ExamplesV1alpha1()
	projects, allProjects := client.Projects("shop"), client.Projects("")
	testRequests(t, s, projects, []request{{
		name:  "Create",
		call:  func() (any, error) { return projects.Create(ctx, project, metav1.CreateOptions{}) },
		sends: "POST " + path, body: projectJSON, reply: projectJSON, want: project,
	}, {
		name: "Create with options",
		call: func() (any, error) {
			return projects.Create(ctx, project, metav1.CreateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Strict"})
		},
		sends: "POST " + path + "?dryRun=All&fieldManager=me&fieldValidation=Strict", body: projectJSON, reply: projectJSON, want: project,
	}, {
		name:  "Update",
		call:  func() (any, error) { return projects.Update(ctx, project, metav1.UpdateOptions{}) },
		sends: "PUT " + path + "/one", body: projectJSON, reply: projectJSON, want: project,
	}, {
		name: "Update with options",
		call: func() (any, error) {
			return projects.Update(ctx, project, metav1.UpdateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Warn"})
		},
		sends: "PUT " + path + "/one?dryRun=All&fieldManager=me&fieldValidation=Warn", body: projectJSON, reply: projectJSON, want: project,
	}, {
		name:  "Delete",
		call:  func() (any, error) { return nil, projects.Delete(ctx, "one", metav1.DeleteOptions{}) },
		sends: "DELETE " + path + "/one", body: deleteJSON + `}`, reply: success,
	}, {
		name: "Delete with options",
		call: func() (any, error) {
			return nil, projects.Delete(ctx, "one", metav1.DeleteOptions{
				PropagationPolicy: new(metav1.DeletePropagationForeground),
				Preconditions:     &metav1.Preconditions{UID: new(types.UID("abc")), ResourceVersion: new("7")},
				DryRun:            []string{"All"},
			})
		},
		sends: "DELETE " + path + "/one", reply: success,
		body: deleteJSON + `, "propagationPolicy": "Foreground", "preconditions": {"uid": "abc", "resourceVersion": "7"}, "dryRun": ["All"]}`,
	}, {
		name: "DeleteCollection with options",
		call: func() (any, error) {
			return nil, projects.DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)},
				metav1.ListOptions{LabelSelector: "app=web", TimeoutSeconds: new(int64(30))})
		},
		sends: "DELETE " + path + "?labelSelector=app%3Dweb&timeoutSeconds=30&timeout=30s",
		body:  deleteJSON + `, "propagationPolicy": "Orphan"}`, reply: success,
	}, {
		name:  "Get",
		call:  func() (any, error) { return projects.Get(ctx, "one", metav1.GetOptions{}) },
		sends: "GET " + path + "/one", reply: projectJSON, want: project,
	}, {
		name:  "Get a name that needs escaping",
		call:  func() (any, error) { return projects.Get(ctx, "one two?a=b#ü", metav1.GetOptions{}) },
		sends: "GET " + path + "/one%20two%3Fa=b%23%C3%BC", reply: projectJSON, want: project,
	}, {
		name:  "Get with options",
		call:  func() (any, error) { return projects.Get(ctx, "one", metav1.GetOptions{ResourceVersion: "5"}) },
		sends: "GET " + path + "/one?resourceVersion=5", reply: projectJSON, want: project,
	}, {
		name:  "List",
		call:  func() (any, error) { return projects.List(ctx, metav1.ListOptions{}) },
		sends: "GET " + path, reply: listJSON, want: list,
	}, {
		name:  "List in all namespaces",
		call:  func() (any, error) { return allProjects.List(ctx, metav1.ListOptions{}) },
		sends: "GET " + allPath, reply: listJSON, want: list,
	}, {
		name: "List with options",
		call: func() (any, error) {
			return projects.List(ctx, metav1.ListOptions{
				LabelSelector: "app=web", FieldSelector: "metadata.name=one",
				ResourceVersion: "5", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				Limit: 2, Continue: "more", TimeoutSeconds: new(int64(30)),
			})
		},
		sends: "GET " + path + "?labelSelector=app%3Dweb&fieldSelector=metadata.name%3Done&resourceVersion=5&resourceVersionMatch=NotOlderThan" +
			"&limit=2&continue=more&timeoutSeconds=30&timeout=30s", reply: listJSON, want: list,
	}, {
		name:  "Watch",
		call:  func() (any, error) { return projects.Watch(ctx, metav1.ListOptions{}) },
		sends: "GET " + path + "?watch=true", reply: eventJSON, want: project,
	}, {
		name:  "Watch in all namespaces",
		call:  func() (any, error) { return allProjects.Watch(ctx, metav1.ListOptions{}) },
		sends: "GET " + allPath + "?watch=true", reply: eventJSON, want: project,
	}, {
		name: "Watch as a streaming list",
		call: func() (any, error) {
			return projects.Watch(ctx, metav1.ListOptions{SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				AllowWatchBookmarks: true, TimeoutSeconds: new(int64(30))})
		},
		sends: "GET " + path + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" +
			"&timeoutSeconds=30&timeout=30s", reply: eventJSON, want: project,
	}, {
		name: "Patch",
		call: func() (any, error) {
			return projects.Patch(ctx, "one", types.MergePatchType, []byte(patchJSON), metav1.PatchOptions{FieldManager: "me", FieldValidation: "Ignore"})
		},
		sends:       "PATCH " + path + "/one?fieldManager=me&fieldValidation=Ignore",
		contentType: "application/merge-patch+json", body: patchJSON, reply: projectJSON, want: project,
	}, {
		name: "Patch a subresource",
		call: func() (any, error) {
			return projects.Patch(ctx, "one", types.MergePatchType, []byte(patchJSON), metav1.PatchOptions{}, "status")
		},
		sends:       "PATCH " + path + "/one/status",
		contentType: "application/merge-patch+json", body: patchJSON, reply: projectJSON, want: project,
	}, {
		name: "Apply",
		call: func() (any, error) {
			return projects.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: "me", Force: true, DryRun: []string{"All"}})
		},
		sends:       "PATCH " + path + "/one?fieldManager=me&force=true&dryRun=All",
		contentType: apply, body: applyJSON, reply: projectJSON, want: project,
	}})
}
