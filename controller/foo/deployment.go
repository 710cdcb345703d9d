package foo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

// fooKind is for the owner references of our Deployments. A Foo does not say its kind: a
// client clears apiVersion and kind of what it decodes (clientset/scheme.go).
var fooKind = v1alpha1.SchemeGroupVersion.WithKind("Foo")

// uidLabel ties Pods to their Foo. Its value is the UID and not the name: a label
// value holds 63 characters, a name may have 253.
const uidLabel = v1alpha1.GroupName + "/foo-uid"

// The container of each Deployment.
const containerName, containerImage = "nginx", "nginx:1.29"

// syncDeployment compares the Foo's Deployment with the Foo's spec, sends what differs and
// keeps the answers in the state. For a Foo that is blocked it sends nothing.
func (r *Reconciler) syncDeployment(ctx context.Context, s *fooState) {
	// Another name is not another write: each rename would be one more to remember and to tell.
	name := cache.NewObjectName(s.foo.Namespace, s.foo.Spec.DeploymentName).String()
	create := controller.Write{Name: "create Deployment", Title: "create Deployment " + name, Purpose: name}
	update := controller.Write{Name: "update Deployment", Title: "update Deployment " + name, Purpose: name}
	var sendCreate, sendUpdate func() error
	switch {
	case s.blocked != nil:
		// It can have none: nothing is wanted.
	case s.deployment == nil:
		sendCreate = func() error { return r.createDeployment(ctx, s) }
	case s.differs != "":
		// s.deployment is the cache's: never change it, change a copy. The copy keeps the
		// resourceVersion: optimistic locking.
		desired := s.deployment.DeepCopy()
		old := applyDesired(desired, s)
		if update.Version = desired.ResourceVersion; old != nil {
			update.Purpose += fmt.Sprint(" ", *desired.Spec.Replicas) // It follows the old one: nobody has undone it.
		}
		sendUpdate = func() error { return r.updateDeployment(ctx, s, desired, old) }
	}
	r.try(s, create, sendCreate)
	r.try(s, update, sendUpdate)
	r.deleteRenamed(ctx, s)
}

// createDeployment creates the Deployment that the cache does not have. A Foo that may have had
// one may be gone, and its Deployment after it (doc.go, Deletion).
func (r *Reconciler) createDeployment(ctx context.Context, s *fooState) error {
	desired := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: s.foo.Spec.DeploymentName, Namespace: s.foo.Namespace}}
	old := applyDesired(desired, s)
	if !s.isNew {
		if _, err := r.verify(ctx, s, old); err != nil {
			return err
		}
	}
	created, err := r.Deployments.Deployments(s.foo.Namespace).Create(ctx, desired, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	r.Writes.Await(s.key, r.DeploymentStore, created)
	if created.Name != desired.Name {
		return r.deleteNamed(ctx, s, created)
	}
	if s.set(created); s.differs != "" {
		return fmt.Errorf("%s %w", s.differs, errChanged)
	}
	r.Events.Eventf(s.foo, created, corev1.EventTypeNormal, "Created", "Create", "Created Deployment %s", created.Name)
	return nil
}

// deleteNamed deletes what was created under another name than it was sent with, and returns an error
// in any case. The answer may be false, so what the Foo does not control, or had before, is kept.
func (r *Reconciler) deleteNamed(ctx context.Context, s *fooState, created *appsv1.Deployment) error {
	if !metav1.IsControlledBy(created, s.foo) || slices.ContainsFunc(s.owned, func(d *appsv1.Deployment) bool { return d.UID == created.UID }) {
		return fmt.Errorf("metadata.name %w (%w)", errChanged, controller.ErrLeft)
	}
	uid := metav1.NewUIDPreconditions(string(created.UID))
	if err := r.Deployments.Deployments(s.foo.Namespace).Delete(ctx, created.Name, metav1.DeleteOptions{Preconditions: uid}); err != nil {
		return fmt.Errorf("metadata.name %w (%w: %v)", errChanged, controller.ErrLeft, err)
	}
	return fmt.Errorf("metadata.name %w", errChanged)
}

// updateDeployment writes the fields that differ. old is the Deployment whose number of replicas it takes over, or nil.
func (r *Reconciler) updateDeployment(ctx context.Context, s *fooState, desired, old *appsv1.Deployment) error {
	if !equality.Semantic.DeepEqual(desired.Spec.Replicas, s.deployment.Spec.Replicas) {
		// An old Foo may carry a number that the new one leaves to others, and theirs stands nowhere else.
		if _, err := r.verify(ctx, s, old); err != nil {
			return err
		}
	}
	differed := s.differs
	updated, err := r.Deployments.Deployments(s.foo.Namespace).Update(ctx, desired, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	r.Writes.Await(s.key, r.DeploymentStore, updated)
	if s.set(updated); s.differs != "" {
		return fmt.Errorf("%s %w", s.differs, errChanged)
	}
	r.Events.Eventf(s.foo, updated, corev1.EventTypeNormal, "Updated", "Update", "Updated %s of Deployment %s", differed, updated.Name)
	return nil
}

// errChanged is a write that the API server accepted and stored with another value.
var errChanged = errors.New("is not as it was sent: does an admission webhook change it?")

// verify asks the API server whether the Foo, and a Deployment of it unless it is nil, are still as in the
// cache, and returns that. If not, a watch is behind and it returns ErrCacheBehind. Of the Foo only the spec
// counts: each change of that, and the deletion, raises the generation. Of a Deployment that it names all that
// the Foo asks for counts, of another one the number of replicas.
func (r *Reconciler) verify(ctx context.Context, s *fooState, d *appsv1.Deployment) (live *appsv1.Deployment, err error) {
	foo, err := r.Foos.Foos(s.foo.Namespace).Get(ctx, s.foo.Name, metav1.GetOptions{})
	isCurrent := err == nil && foo.Generation == s.foo.Generation
	if err := r.current(s, r.FooStore, s.foo, foo, isCurrent, err); err != nil || d == nil {
		return nil, err
	}
	live, err = r.Deployments.Deployments(s.foo.Namespace).Get(ctx, d.Name, metav1.GetOptions{})
	isCurrent = err == nil && live.DeletionTimestamp == nil && differs(live, s) == differs(d, s) &&
		(d == s.deployment || ptr.Deref(live.Spec.Replicas, 1) == ptr.Deref(d.Spec.Replicas, 1))
	return live, r.current(s, r.DeploymentStore, d, live, isCurrent, err)
}

// current returns ErrCacheBehind unless a GET has returned the object that the cache has, as it has it. Its newer
// version is awaited, and not that of another object: a proxy may have asked another cluster.
func (r *Reconciler) current(s *fooState, store cache.Store, cached, live metav1.Object, isCurrent bool, err error) error {
	switch {
	case apierrors.IsNotFound(err), err == nil && live.GetUID() != cached.GetUID():
		return controller.ErrCacheBehind
	case err != nil:
		return fmt.Errorf("get: %w", err)
	}
	if r.Writes.Await(s.key, store, live); !isCurrent {
		return controller.ErrCacheBehind
	}
	return nil
}

// validate refuses a spec that no Deployment can have. Our CRD does, too, but a cluster may
// have another one.
func validate(foo *v1alpha1.Foo) *cause {
	if len(validation.NameIsDNSSubdomain(foo.Spec.DeploymentName, false)) > 0 {
		return warning(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.deploymentName: %q is not a name that a Deployment can have", foo.Spec.DeploymentName))
	}
	if foo.Spec.Replicas != nil && *foo.Spec.Replicas < 0 {
		return warning(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.replicas: %d is less than 0", *foo.Spec.Replicas))
	}
	return nil
}

// checkController refuses a Deployment that the Foo, by its UID, does not control.
func (r *Reconciler) checkController(deployment *appsv1.Deployment, foo *v1alpha1.Foo) *cause {
	owner, whose := ptr.Deref(metav1.GetControllerOfNoCopy(deployment), metav1.OwnerReference{}), "has no controller"
	other, _ := get[*v1alpha1.Foo](r.FooStore, cache.NewObjectName(foo.Namespace, owner.Name))
	isFoo := owner.APIVersion == fooKind.GroupVersion().String() && owner.Kind == fooKind.Kind
	switch {
	case deployment.DeletionTimestamp == nil && owner.Kind != "" && owner.UID == foo.UID:
		return nil // Whatever name the reference has.
	case deployment.DeletionTimestamp != nil, isFoo && (other == nil || other.UID != owner.UID):
		// It is being deleted, or the garbage collector is about to: not if it does not know the version.
		return &cause{reason: v1alpha1.ReasonWaitingForDeletion, message: fmt.Sprintf("Deployment %q is being deleted, or the Foo that controls it is gone: a new one will follow", deployment.Name)}
	case owner.Kind != "":
		whose = fmt.Sprintf("is controlled by %s %q", owner.Kind, owner.Name)
	}
	return warning(v1alpha1.ReasonNameTaken, fmt.Sprintf("Deployment %q exists and %s: delete it or change spec.deploymentName", deployment.Name, whose))
}

// applyDesired sets the fields that this controller decides. The others stay: the API server's
// defaults, and what autoscalers and people have set. It returns the old Deployment whose number of replicas it
// sets, nil if there is none.
func applyDesired(deployment *appsv1.Deployment, s *fooState) (old *appsv1.Deployment) {
	// The Foo controls it, and the garbage collector deletes it after the Foo. One reference can be
	// the controller's, and somebody may have added another one to the Foo.
	owner := entry(&deployment.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == s.foo.UID && ptr.Deref(o.Controller, false) })
	*owner = *metav1.NewControllerRef(s.foo, fooKind)
	// Which Pods are the Deployment's. It can never be changed: the API server says so.
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{uidLabel: string(s.foo.UID)}}
	// nil leaves the number to others, such as an autoscaler. After a rename that of the old Deployment is theirs.
	if s.foo.Spec.Replicas != nil {
		deployment.Spec.Replicas = new(*s.foo.Spec.Replicas)
	} else {
		old = s.takeOver(deployment)
	}
	template := &deployment.Spec.Template
	metav1.SetMetaDataLabel(&template.ObjectMeta, uidLabel, string(s.foo.UID))
	ours := entry(&template.Spec.Containers, func(c corev1.Container) bool { return c.Name == containerName })
	ours.Name, ours.Image = containerName, containerImage
	return old
}

// entry returns the first entry of a list that matches. It adds an empty one if there is none.
func entry[T any](list *[]T, matches func(T) bool) *T {
	i := slices.IndexFunc(*list, matches)
	if i < 0 {
		*list, i = append(*list, *new(T)), len(*list)
	}
	return &(*list)[i]
}

// differs names a field that applyDesired would change, "" if there is none.
func differs(is *appsv1.Deployment, s *fooState) string {
	want, equal := is.DeepCopy(), equality.Semantic.DeepEqual
	applyDesired(want, s)
	switch {
	case is.Name != s.foo.Spec.DeploymentName:
		return "metadata.name" // A webhook has changed it.
	case !equal(is.OwnerReferences, want.OwnerReferences):
		return "metadata.ownerReferences"
	case !equal(is.Spec.Selector, want.Spec.Selector):
		return "spec.selector"
	case !equal(is.Spec.Replicas, want.Spec.Replicas):
		return "spec.replicas"
	case !equal(is.Spec.Template.Labels, want.Spec.Template.Labels):
		return "spec.template.metadata.labels"
	case !equal(is.Spec.Template.Spec.Containers, want.Spec.Template.Spec.Containers):
		return "spec.template.spec.containers"
	}
	return ""
}
