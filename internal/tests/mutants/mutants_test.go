//go:build mutants

package mutants

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/byhand/internal/testkit/mistake"
)

const (
	api        = "api/samplecontroller.k8s.io/v1alpha1/"
	everything = "." // the package of deepcopy_test.go and main_test.go
)

// mutants are mistakes that people make. old stands in file, new takes its place,
// and test in pkg must fail.
var mutants = []struct {
	mistake, file, old, new, pkg, test string
}{
	// How an object is copied.
	{"a shallow copy of the labels", api + "deepcopy.go", "f.ObjectMeta.DeepCopyInto(&out.ObjectMeta)", "", everything, "TestDeepCopySharesNoMemory"},
	{"a shallow copy of a slice", api + "deepcopy.go", "make([]metav1.Condition, len(s.Conditions))", "[]metav1.Condition(s.Conditions)", everything, "TestDeepCopySharesNoMemory"},
	{"a shallow copy of a pointer", api + "deepcopy.go", "new(*s.Replicas)", "s.Replicas", everything, "TestDeepCopySharesNoMemory"},
	{"list items that are shared", api + "deepcopy.go", "l.Items[i].DeepCopyInto(&out.Items[i])", "out.Items[i] = l.Items[i]", everything, "TestDeepCopySharesNoMemory"},
	{"a new field that DeepCopy forgets", api + "types.go", "DeploymentName string `json:\"deploymentName\"`", "DeploymentName string `json:\"deploymentName\"`\n\tForgotten map[string]string `json:\"forgotten\"`", everything, "TestDeepCopySharesNoMemory"},
	{"a new field that the schema lacks", api + "types.go", "DeploymentName string `json:\"deploymentName\"`", "DeploymentName string `json:\"deploymentName\"`\n\tForgotten string `json:\"forgotten\"`", "./internal/tests/schema", "TestFields"},
	{"a misspelled field", api + "types.go", `json:"replicas,omitempty"`, `json:"replica,omitempty"`, "./internal/tests/schema", "TestFields"},
	{"a misspelled group", "api/examples-gzh.com/v1alpha1/register.go", `GroupName = "examples-gzh.com"`, `GroupName = "example-gzh.com"`, "./internal/tests/schema", "TestKindsAreComplete"},
	{"nil becomes empty", api + "deepcopy.go", "if s.Conditions != nil {", "if true {", everything, "TestDeepCopyKeepsNilAndEmpty"},

	// How it crosses the wire.
	{"a wrong method", "clientset/foo.go", "c.client.Put()", "c.client.Post()", "./clientset", "TestRequests"},
	{"a wrong path segment", "clientset/project.go", `Resource("projects")`, `Resource("project")`, "./clientset", "TestRequests"},
	{"a group misspelled in the base path", "clientset/clientset.go", `config.APIPath = "/apis"`, `config.APIPath = "/api"`, "./clientset", "TestRequests"},
	{"a subresource forgotten", "clientset/foo.go", `SubResource("status").`, "", "./clientset", "TestRequests"},
	{"an option dropped", "clientset/foo.go", "VersionedParams(&listOpts, ParameterCodec).", "", "./clientset", "TestRequests"},
	{"TimeoutSeconds lost", "clientset/clientset.go", "return time.Duration(ptr.Deref(opts.TimeoutSeconds, 0)) * time.Second", "return 0", "./clientset", "TestRequests"},
	{"a wrong codec", "clientset/clientset.go", "Codecs.WithoutConversion()", "Codecs", "./clientset", "TestRequests"},
	{"a kind that is not registered", api + "register.go", "&Foo{},", "", "./internal/tests/schema", "TestKindsAreComplete"},
	{"a list that is not registered", "api/examples-gzh.com/v1alpha1/register.go", "&ProjectList{},", "", "./internal/tests/schema", "TestKindsAreComplete"},
	{"an apply that cannot leave a field out", api + "applyconfiguration/foo.go", `json:"deploymentName,omitempty"`, `json:"deploymentName"`, "./internal/tests/schema", "TestApplyConfigurations"},
	{"the caller's configuration changed", "clientset/clientset.go", "config := *c\n\tif config.UserAgent", "config := *c\n\tc.UserAgent = \"changed\"\n\tif config.UserAgent", "./clientset", "TestNewForConfigLeavesConfigAlone"},
	{"a rate limiter for each group", "clientset/clientset.go", "config.RateLimiter = flowcontrol", "_ = flowcontrol", "./clientset", "TestGroupsShareOneRateLimiter"},

	// How it is kept in memory.
	{"an answer that is no list", "informer/informer.go", `accessor.GetResourceVersion() == ""`, `accessor.GetResourceVersion() == "none"`, "./informer", "TestUndecodableObject"},
	{"managedFields kept", "informer/informer.go", "accessor.SetManagedFields(nil)", "_ = accessor", "./informer", "TestResync"},
	{"annotations kept", "informer/foo.go", "foo.Annotations, foo.Labels, foo.Finalizers, foo.OwnerReferences = nil, nil, nil, nil", "_ = foo", "./informer", "TestResync"},
	{"Projects listed in all namespaces", "informer/project.go", "Projects(namespace).List", `Projects("").List`, "./informer", "TestRequestPaths"},
	{"Projects watched in all namespaces", "informer/project.go", "Projects(namespace).Watch", `Projects("").Watch`, "./informer", "TestRequestPaths"},
	{"Foos listed in all namespaces", "informer/foo.go", "Foos(namespace).List", `Foos("").List`, "./informer", "TestRequestPaths"},
	{"Foos watched in all namespaces", "informer/foo.go", "Foos(namespace).Watch", `Foos("").Watch`, "./informer", "TestRequestPaths"},
	{"Deployments listed in all namespaces", "informer/deployment.go", "Deployments(namespace).List", `Deployments("").List`, "./informer", "TestRequestPaths"},
	{"Deployments watched in all namespaces", "informer/deployment.go", "Deployments(namespace).Watch", `Deployments("").Watch`, "./informer", "TestRequestPaths"},
	{"a list's error that nobody sees", "informer/informer.go", "cmp.Or(err, errNoAnswer)", "errNoAnswer", "./informer", "TestWaitForSyncNamesError"},
	{"a watch's error that nobody sees", "informer/informer.go", "i.sight.note(err, 0)\n\t\t\t\treturn nil", "return nil", "./informer", "TestWaitForSyncNamesError"},
	{"a lost right unnoticed", "informer/progress.go", "apierrors.IsForbidden(i.sight.why) ||", "", "./informer", "TestReady"},
	{"not ready for any error", "informer/progress.go", "blind < limit && !isLost", "false && isLost", "./informer", "TestReady"},
	{"a right counted before the first list", "informer/progress.go", "i.controller.HasSynced() && (", "(", "./informer", "TestWaitForSyncNamesError"},
	{"lists that break at the same object", "informer/progress.go", "received > s.received && ", "received > 0 && ", "./informer", "TestWaitForSync"},
	{"a watch that has ended and stays in memory", "informer/progress.go", "\td.end.Stop()", "\t_ = d.end", "./informer", "TestEndedWatchesAreForgotten"},
	{"a watch that may outlive its time limit", "informer/informer.go", "end := time.AfterFunc(time.Duration(ptr.Deref(opts.TimeoutSeconds, 0))*time.Second+blindAfter, stream.Stop)", "end := time.NewTimer(time.Duration(ptr.Deref(opts.TimeoutSeconds, 0)))", "./informer", "TestWatchPastItsTimeLimit"},
	{"a first list that may be old", "informer/informer.go", "opts.ResourceVersion, opts.Limit = \"\", 0", "", "./informer", "TestNoListIsOld"},
	{"lists that grow while one object cannot be decoded", "informer/progress.go", " && !s.hasSeen", "", "./informer", "TestReady"},
	{"a slow list that ends the start", "informer/progress.go", " || received > s.received && !s.hasSeen {", " {", "./informer", "TestWaitForSync"},
	{"an end that waits for a Reflector that sleeps", "informer/informer.go", "\tgo i.controller.RunWithContext(ctx)\n", "\tended := make(chan struct{})\n\tgo func() { i.controller.RunWithContext(ctx); close(ended) }()\n\tdefer func() { <-ended }()\n", "./informer", "TestRunEnds"},
	{"an observer that is not called", "informer/informer.go", "i.Handler.ResourceEventHandler, options.Handler = options.Handler, &i.Handler", "i.Handler.ResourceEventHandler = options.Handler", "./informer", "TestHandlerIsReplaced"},
	{"no resync", "informer/foo.go", "ResyncPeriod: resync", "ResyncPeriod: 0 * resync", "./informer", "TestResync"},
	{"an index that ignores the namespace", "informer/foo.go", "cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName)", `cache.NewObjectName("default", foo.Spec.DeploymentName)`, "./informer", "TestIndexes"},
	{"an index of owners that do not control", "informer/deployment.go", "if owner == nil {\n\t\t\treturn nil, nil", "if owner == nil {\n\t\t\treturn []string{\"default/one\"}, nil", "./informer", "TestIndexes"},
	{"a fake that claims to stream lists", "clientset/fake/clientset.go", "func (c *Clientset) IsWatchListSemanticsUnSupported() bool { return true }", "func (c *Clientset) IsWatchListSemanticsUnSupported() bool { return false }", "./clientset/fake", "TestInformerSyncs"},

	// How it is acted on.
	{"an object of the store changed", "controller/foo/status.go", "desired := s.foo.DeepCopy()", "desired := s.foo", "./controller/foo", "TestCreate"},
	{"a Deployment of the store changed", "controller/foo/deployment.go", "desired := s.deployment.DeepCopy()", "desired := s.deployment", "./controller/foo", "TestDrift"},
	{"no guard against deletion", "controller/foo/reconcile.go", "if !ok || foo.DeletionTimestamp != nil {", "if !ok {", "./controller/foo", "TestNothingToDo"},
	{"ownership by name", "controller/foo/deployment.go", "owner.UID == foo.UID:\n\t\treturn nil", "owner.Name == foo.Name:\n\t\treturn nil", "./controller/foo", "TestCheckController"},
	{"a Deployment that leaves, taken for the Foo's", "controller/foo/deployment.go", "case deployment.DeletionTimestamp != nil, isFoo", "case isFoo", "./controller/foo", "TestLeavingDeployment"},
	{"a deletion while blocked", "controller/foo/rename.go", "hasNew := s.blocked == nil && s.deployment != nil && s.differs == \"\"", "hasNew := s.deployment != nil", "./controller/foo", "TestBlockedFooDeletesNothing"},
	{"a deletion by name", "controller/foo/rename.go", "Preconditions:     &metav1.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion},", "", "./controller/foo", "TestRenameKeepsWhatIsNew"},
	{"a deletion of what is being deleted", "controller/foo/rename.go", " || old.DeletionTimestamp != nil", "", "./controller/foo", "TestRenameWithFinalizers"},
	{"a reason with an identifier taken for a new cause", "controller/foo/status.go", "code, \" \", named", "apierrors.ReasonForError(f.Err), code, \" \", named", "./controller/foo", "TestDenialWithIdentifier"},
	{"what was undone, forgotten at the first look", "controller/foo/deployment.go", "if update.Version = desired.ResourceVersion; old != nil {", "if update.Version = desired.ResourceVersion; true {", "./controller/foo", "TestSetBack"},
	{"the number of a copy", "controller/foo/rename.go", "old.DeletionTimestamp == nil && !isYounger", "old.DeletionTimestamp == nil || isYounger", "./controller/foo", "TestCopyHasNoNumber"},
	{"a number that follows another, counted as undone", "controller/foo/deployment.go", "update.Purpose += fmt.Sprint(\" \", *desired.Spec.Replicas)", "_ = old", "./controller/foo", "TestOldNumberIsTakenOver"},
	{"a deletion that was not wanted, taken for one that failed", "controller/foo/rename.go", "w := controller.Write{Name: deletion(old)", "if !hasNew {\n\t\t\treturn\n\t\t}\n\t\tw := controller.Write{Name: deletion(old)", "./controller/foo", "TestDeletionNotWantedMeanwhile"},
	{"a write that stood, counted as undone", "controller/failures.go", "case a.err == nil && a.done > 0 && hasStood:", "case false:", "./controller", "TestUndoneIsToldForAMinute"},
	{"a number on the cache's word", "controller/foo/deployment.go", "if !equality.Semantic.DeepEqual(desired.Spec.Replicas, s.deployment.Spec.Replicas) {", "if false {", "./controller/foo", "TestStaleStoreSetsNoNumber"},
	{"a deletion on the cache's word", "controller/foo/rename.go", "live, err := r.verify(ctx, s, s.deployment)", "live, err := s.deployment, error(nil)", "./controller/foo", "TestStaleStoreDeletesNothing"},
	{"a deletion of what has changed", "controller/foo/rename.go", ", ResourceVersion: &old.ResourceVersion}", "}", "./controller/foo", "TestRenameOfReleasedDeployment"},
	{"replicas taken from an autoscaler", "controller/foo/deployment.go", "old = s.takeOver(deployment)", "deployment.Spec.Replicas = new(int32(1))", "./controller/foo", "TestDrift"},
	{"a drift that is not seen", "controller/foo/deployment.go", "case !equal(is.Spec.Template.Spec.Containers, want.Spec.Template.Spec.Containers):", "case false:", "./controller/foo", "TestDrift"},
	{"a change taken back that passes for a success", "controller/foo/deployment.go", "if s.set(updated); s.differs != \"\" {", "if s.set(updated); false {", "./controller/foo", "TestNoHotLoop"},
	{"one Deployment more each half minute, beside a webhook that names them", "controller/failures.go", ", errors.Is(a.err, ErrLeft):", ":", "./controller/foo", "TestNamedByWebhookAndNotDeleted"},
	{"a look that was only slow, told as a failure", "controller/failures.go", " || errors.Is(a.err, ErrCacheBehind)", "", "./controller/foo", "TestSlowLook"},
	{"asked for each Deployment, and the cache is behind", "controller/foo/rename.go", " || s.behind {", " {", "./controller/foo", "TestStaleStoreDeletesNothing"},
	{"a cause that goes on, told again", "controller/failures.go", "\t}\n\tf.told.Add(id, t, toldFor)\n", "\t\tf.told.Add(id, t, toldFor)\n\t}\n", "./controller", "TestTold"},
	{"a new Deployment that is not the Foo's", "controller/foo/deployment.go", "if s.set(created); s.differs != \"\" {", "if s.set(created); false {", "./controller/foo", "TestOwnerIsStripped"},
	{"the old one deleted before the Foo has a new one", "controller/foo/rename.go", "hasNew := s.blocked == nil && s.deployment != nil && s.differs == \"\"", "hasNew := s.deployment != nil", "./controller/foo", "TestOwnerIsStripped"},
	{"an owner that nobody compares", "controller/foo/deployment.go", "case !equal(is.OwnerReferences, want.OwnerReferences):", "case false:", "./controller/foo", "TestApplyDesired"},
	{"an old number taken over by a rename", "controller/foo/deployment.go", "err != nil || d == nil {", "true {", "./controller/foo", "TestRenameKeepsNewestNumber"},
	{"a number lost by a rename", "controller/foo/rename.go", "n > *d.Spec.Replicas", "false", "./controller/foo", "TestOldNumberIsTakenOver"},
	{"a deletion that waits for those that hang", "controller/foo/reconcile.go", "r.Failures.Tried(foo, deletion(a)).Compare(r.Failures.Tried(foo, deletion(b))), ", "", "./controller/foo", "TestHangingDeletionHoldsUpNoOther"},
	{"a Foo that is gone and keeps a name taken", "controller/foo/deployment.go", " || other.UID != owner.UID)", ")", "./controller/foo", "TestCheckController"},
	{"a policy's denial taken for a bad spec", "controller/failures.go", " || apierrors.IsInvalid(err)", "", "./controller/foo", "TestDeniedByPolicy"},
	{"a webhook's denial that is not told", "controller/failures.go", "apierrors.IsForbidden(err) || ", "apierrors.ReasonForError(err) == metav1.StatusReasonForbidden || ", "./controller/foo", "TestDeniedByWebhook"},
	{"a refusal that is not retried", "controller/foo/reconcile.go", "\tdefault:\n\t\ts.errs = append(s.errs, f.Err)\n", "", "./controller/foo", "TestDeniedByPolicy"},
	{"a wait that nobody knows", "controller/foo/reconcile.go", "if f.Wait > 0 && (s.wait == 0 || f.Wait < s.wait) {", "if false {", "./controller/foo", "TestDeniedByPolicy"},
	{"slow keys in all workers", "controller/controller.go", "case time.Since(began) >= slowFrom:", "case time.Since(began) < 0:", "./controller", "TestSlowKeys"},
	{"one worker that is not alone", "controller/controller.go", "if SlowWorkers(workers) == 0 {", "if false {", "./controller", "TestOneWorkerIsAlone"},
	{"a namespace that does not wait for its turn", "controller/turns.go", "t.order = append(t.order[1:], namespace)", "t.order = append([]string{namespace}, t.order[1:]...)", "./controller", "TestNamespacesTakeTurns"},
	{"slow keys without turns", "controller/controller.go", "workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[cache.ObjectName]{Queue: newTurns()})", "workqueue.NewTyped[cache.ObjectName]()", "./controller", "TestSlowKeys"},
	{"the number of an old Deployment that is being deleted", "controller/foo/rename.go", "s.foo.Spec.DeploymentName && old.DeletionTimestamp == nil &&", "s.foo.Spec.DeploymentName &&", "./controller/foo", "TestRenameKeepsNumber"},
	{"a key that is slow for ever", "controller/controller.go", "c.slow.Add(key, true, slowFor)", "c.slow.Add(key, true, 100*slowFor)", "./controller", "TestSlowKeys"},
	{"a slow write that its event makes well", "controller/controller.go", "c.slow.Add(key, true, slowFor)", "c.slow.Add(key, true, slowFrom)", "./controller", "TestSlowKeys"},
	{"what has failed and hangs, in all workers", "controller/controller.go", "err != nil && !isRace(err) && wasSlow != true", "wasSlow == 0", "./controller", "TestFailedKeysLeaveWorkersFree"},
	{"a key that is taken after the end", "controller/controller.go", "shutdown || ctx.Err() != nil", "shutdown", "./controller", "TestNoKeyAfterTheEnd"},
	{"what was undone, told for as long as it is remembered", "controller/failures.go", "undone && !hasStood", "undone", "./controller", "TestUndoneIsToldForAMinute"},
	{"an old failure of a DELETE that was not wanted since", "controller/foo/rename.go", "\t\t\tr.try(s, w, nil)\n", "", "./controller/foo", "TestRenameBack"},
	{"memory of what is gone, without end", "controller/failures.go", "1200, 50_000", "1200, 1_000_000", "./controller", "TestOldestAreForgotten"},
	{"what failed for a Foo that is gone, kept", "controller/failures.go", "attempt{}, time.Hour)", "attempt{}, 24*time.Hour)", "./controller", "TestForgotten"},
	{"a blocked Foo that reports no replicas", "controller/foo/status.go", "running := s.owned", "running := s.owned[:0]", "./controller/foo", "TestBlockedStatusIsObserved"},
	{"what is not wanted for a moment, forgotten", "controller/failures.go", "\t\tf.attempts.Add(id, a, stoodFor)\n\t}\n\treturn Failure{}", "\t\tf.attempts.Remove(id)\n\t}\n\treturn Failure{}", "./controller", "TestForgotten"},
	{"a warning with each look", "controller/foo/status.go", "if isNew {", "if true || isNew {", "./controller/foo", "TestForeignDeployment"},
	{"a message that varies from try to try", "controller/failures.go", "if t.generation != object.GetGeneration() || time.Since(t.at) >= renewAfter {", "if true {", "./controller/foo", "TestDenialWithIdentifier"},

	// What production adds: without its effect, the test that its file names fails.
	{"no read-your-writes", "controller/readyourwrites.go", "default:\n\t\t\treturn false, nil", "default:\n\t\t\treturn true, nil", "./controller/foo", "TestOwnWritesAreAwaited"},
	{"no priorities", "controller/priority.go", "newHandler(lowPriority{queue})", "newHandler(queue)", "./controller", "TestUnchangedHasLowPriority"},
	{"a deletion not remembered", "controller/foo/rename.go", "r.Writes.AwaitChange(s.key, r.DeploymentStore, old, nil)", "", "./controller/foo", "TestRename"},
	{"a Deployment made for a Foo that is gone", "controller/foo/deployment.go", "if !s.isNew {", "if len(s.foo.Status.Conditions) > 0 && len(s.owned) == 0 {", "./controller/foo", "TestGoneWithLittleTrace"},
	{"replicas not counted", "controller/foo/status.go", "status.Replicas += d.Status.Replicas", "", "./controller/foo", "TestStatusFollowsDeployment"},
	{"a refused version sent again", "controller/failures.go", "a.refused == w.Version && ", "false && ", "./controller/foo", "TestConflict"},
	{"a version awaited for ever", "controller/failures.go", " && time.Until(a.until) > 0", "", "./controller/foo", "TestInventedConflict"},
	{"what the cache shows, kept in memory", "controller/readyourwrites.go", "\tdelete(p.byKey, key)\n", "", "./controller", "TestObservedIsForgotten"},
	{"a write that takes all the time", "controller/foo/reconcile.go", "ReconcileTimeout/2", "ReconcileTimeout", "./controller/foo", "TestSlowWriteIsTold"},
	{"a status whose size is refused", "controller/foo/status.go", "[:min(len(message), most)]", "", "./controller/foo", "TestLongMessage"},
	{"a ready Foo without a Deployment", "controller/foo/status.go", "return waiting(\"Deployment %q does not exist yet\", s.foo.Spec.DeploymentName)", "return nil", "./controller/foo", "TestNotReadyWithoutDeployment"},
	{"a ready Foo with an earlier template", "controller/foo/status.go", "case is.UpdatedReplicas < wanted:", "case false:", "./controller/foo", "TestCalculateStatus"},
	{"what is undone, written with each event", "controller/failures.go", "case a.failed+a.done > 1, a.err", "case a.failed > 1, a.err", "./controller/foo", "TestSetBack"},
	{"an old Deployment deleted beside one that a webhook changes", "controller/foo/rename.go", "hasNew := s.blocked == nil && s.deployment != nil && s.differs == \"\"", "hasNew := s.deployment != nil && metav1.IsControlledBy(s.deployment, s.foo)", "./controller/foo", "TestRenameBesideWebhook"},
	{"a Deployment made without a look at its Foo", "controller/foo/deployment.go", "if !s.isNew {", "if false {", "./controller/foo", "TestGoneLater"},
	{"a Foo of the same name and generation taken for this one", "controller/foo/deployment.go", ", err == nil && live.GetUID() != cached.GetUID():", ":", "./controller/foo", "TestReplacedFoo"},
	{"an event that does not wait for the back-off", "controller/failures.go", "!isBehind && wait <= 0", "!isBehind", "./controller/foo", "TestNoHotLoop"},
	{"one back-off for all writes", "controller/failures.go", "id := attemptID{object.GetUID(), w.Name}", "id := attemptID{object.GetUID(), \"\"}", "./controller", "TestFailedWriteWaits"},
	{"a back-off that does not begin anew after a success", "controller/failures.go", "a.failed, a.done = 0, a.done+1", "a.done++", "./controller", "TestBackOffDoubles"},
	{"a correction that nobody forgets", "controller/failures.go", "f.attempts.Add(id, a, max(stoodFor, ", "f.attempts.Add(id, a, max(2*stoodFor, ", "./controller", "TestUndoneWriteWaits"},
	{"a terminating namespace tried again", "controller/failures.go", "case apierrors.HasStatusCause(a.err, corev1.NamespaceTerminatingCause), ", "case apierrors.HasStatusCause(nil, corev1.NamespaceTerminatingCause), ", "./controller", "TestTerminatingWaits"},
	{"the last Deployment deleted on the cache's word", "controller/foo/deployment.go", "return live, r.current(s, r.DeploymentStore, d, live, isCurrent, err)", "return d, nil", "./controller/foo", "TestRenameToAndFro"},
	{"the last Deployment deleted beside one that was given away", "controller/foo/deployment.go", "differs(live, s) == differs(d, s)", "true", "./controller/foo", "TestRenameToReleasedDeployment"},
	{"a new spec that waits for an old back-off", "controller/failures.go", "a.generation != object.GetGeneration() || a.err", "a.err", "./controller/foo", "TestForbidden"},
	{"an error that lasts and is not told", "controller/foo/status.go", "case f.Lasts:", "case false:", "./controller/foo", "TestFailureThatLasts"},
	{"a failure that lasts after one try", "controller/failures.go", "a.ended.Sub(a.since) >= lastsFrom", "time.Since(a.since) >= lastsFrom", "./controller/foo", "TestInventedConflict"},
	{"a wrong answer that holds up for ever", "controller/readyourwrites.go", "!time.Now().Before(until)", "time.Now().IsZero() && until.IsZero()", "./controller", "TestWrongAnswerIsForgotten"},
	{"a look that fails and is not told", "controller/foo/reconcile.go", "ErrCacheBehind) && !f.Lasts", "ErrCacheBehind)", "./controller/foo", "TestLookThatLies"},
	{"a try that hangs, not told", "controller/failures.go", "a.took >= hangsFrom", "false", "./controller", "TestFailureLasts"},
	{"an error told at once", "controller/failures.go", "a.ended.Sub(a.since) >= lastsFrom", "true", "./controller", "TestFailureLasts"},
	{"a cause told once more", "controller/failures.go", "\tf.told.Add(id, t, toldFor)\n", "", "./controller/foo", "TestDenialWithIdentifier"},
	{"what was refused for the spec before", "controller/failures.go", "t.generation != object.GetGeneration() || ", "", "./controller/foo", "TestDenialWithIdentifier"},
	{"a refusal that hides the next one", "controller/foo/status.go", "fmt.Sprint(f.Write, \" \", c.reason", "fmt.Sprint(c.reason", "./controller/foo", "TestNextRefusal"},
	{"a status that a webhook changed, not noticed", "controller/foo/status.go", "if !equality.Semantic.DeepEqual(updated.Status, desired.Status) {", "if updated == nil {", "./controller/foo", "TestStatusIsChanged"},
	{"the zero time sent as null", "controller/foo/status.go", "at.UTC().Year() < 1900 || ", "", "./controller/foo", "TestConditionsOfOthers"},
	{"a failure that is over", "controller/foo/status.go", "failure != nil && (causes != nil || !d.Spec.Paused)", "failure != nil", "./controller/foo", "TestCalculateStatus"},
	{"a quota on Pods that is not told", "controller/foo/status.go", "isObserved && c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue", "false", "./controller/foo", "TestCalculateStatus"},
	{"a quota on ReplicaSets that is not told", "controller/foo/status.go", "case c.Reason == \"ReplicaSetCreateError\",", "case false,", "./controller/foo", "TestCalculateStatus"},
	{"a panic taken for a success", "controller/controller.go", `fmt.Errorf("panic: %v\n%s", reason, debug.Stack())`, `map[string]error{fmt.Sprint(debug.Stack()): nil}[""]`, "./controller", "TestPanicIsRetried"},
	{"a Lease released while a worker is busy", "kit/leader/leader.go", "klog.NewContext(context.Background(), ", "klog.NewContext(ctx, ", "./kit/leader", "TestTwoContexts"},
	{"a Lease kept by who has ended before the answer", "kit/leader/leader.go", "\te.giveAway()\n", "\tif e.elector.IsLeader() {\n\t\te.giveAway()\n\t}\n", "./kit/leader", "TestEndsWhileAcquiring"},
	{"a Lease kept by work that failed", "kit/leader/leader.go", "\te.giveAway()\n", "", "./kit/leader", "TestEndsWhileAcquiring"},
	{"a frozen leader that works on", "kit/leader/leader.go", " || !isWithin(&e.lock.renewed, e.options.LeaseDuration)", "", "./kit/leader", "TestLeaseLost"},
	{"a Lease that counts from the answer", "kit/leader/leader.go", "record.RenewTime.Add(-time.Duration(record.RenewTime.Nanosecond()))", "time.Now()", "./kit/leader", "TestOneWorks"},
	{"a reconcile without the Lease", "main.go", "election.OnlyWhileLeading(l.reconciler.Reconcile)", "l.reconciler.Reconcile", everything, "TestLeader"},
	{"work that goes on after the Lease is lost", "kit/leader/leader.go", "defer stop()", "_ = stop", "./kit/leader", "TestLeaseLost"},
	{"retries that never slow down", "controller/queue.go", "(shortestDelay, longestDelay)", "(shortestDelay, shortestDelay)", "./controller", "TestRetryIsCappedAndPerKey"},
	{"writes that never slow down", "controller/failures.go", "min(shortestDelay<<min(failures-1, 20), longestDelay)", "shortestDelay", "./controller", "TestBackOffDoubles"},
	{"a changed key that is not moved forward", "controller/priority.go", "f.high.Push(key)\n\t}\n}\n\n// Len", "f.low.Push(key)\n\t}\n}\n\n// Len", "./controller", "TestQueueOrder"},
	{"a retry that passes for a change", "controller/priority.go", "\tf.changed.Delete(key)\n", "", "./controller", "TestQueueOrder"},
	{"an initial list that waits for ever", "controller/priority.go", "f.pops%lowTurn == 0", "false", "./controller", "TestLowPriorityIsNotStarved"},
	{"an initial list that stays in memory", "controller/turns.go", "; len(t.where) == 0 {", "; false {", "./controller", "TestQueueGivesMemoryBack"},
	{"a wait that ends the count of failures", "controller/controller.go", "case err == nil && requeueAfter == 0:", "case err == nil:", "./controller", "TestWaitKeepsFailures"},
	{"an error hidden by a conflict", "controller/controller.go", "return !slices.ContainsFunc(", "return slices.ContainsFunc(", "./controller", "TestErrorsAreLogged"},
	{"a resync taken for a change", "controller/priority.go", "ifUnchanged[isUnchanged(before, after)]", "ifUnchanged[false]", "./controller", "TestUnchangedHasLowPriority"},
	{"a failure that is never forgotten", "controller/controller.go", "\t\tc.queue.Forget(key)\n", "", "./controller", "TestSuccessForgetsFailures"},
	{"a worker cut off in the middle", "controller/controller.go", "context.WithoutCancel(ctx)", "ctx", "./controller", "TestRunAwaitsWorkers"},
	{"a name awaited with each event", "controller/handlers.go", "holder(before) != holder(after)", "true", "./controller", "TestEnqueueOwner"},
	{"a tombstone taken for an object", "controller/handlers.go", "obj = tombstone.Obj", "_ = tombstone", "./controller", "TestEnqueueOwner"},

	// What it shows.
	{"a metric renamed", "kit/metrics/queue.go", `"workqueue_depth"`, `"workqueue_length"`, "./kit/metrics", "TestNames"},
	{"names of objects in labels", "kit/metrics/request.go", "WithLabelValues(verb, url.Host).Observe(took", "WithLabelValues(verb, url.Path).Observe(took", "./kit/metrics", "TestRequests"},
	{"a relist taken for a resync", "internal/observer/handler.go", "case before == after:", "case metaOf(before).GetResourceVersion() == metaOf(after).GetResourceVersion():", "./internal/observer", "TestHandler"},
	{"a key without the event that added it", "internal/observer/handler.go", "h.observer.handles.Store(h)", "", "./internal/observer", "TestHandler"},
	{"a panic swallowed", "internal/observer/reconcile.go", "\t\tcase !returned:\n", "\t\tcase !returned:\n\t\t\trecover()\n", "./internal/observer", "TestCount"},
	{"ready before it is", "kit/serve/health.go", `code, verdict = http.StatusServiceUnavailable, "failed"`, `verdict = "failed"`, "./kit/serve", "TestHandler"},
	{"a password on the page", "internal/observer/kind.go", "\tif k.Shown != nil {\n", "\tif false {\n", "./internal/observer", "TestRender"},
	{"everybody's annotations on the page", "internal/observer/kind.go", "k.GVK.Group == group", "k.GVK.Group != group", "./internal/observer", "TestRender"},
	{"a Foo of another group", "internal/observer/kind.go", "gv.Group != kind.GVK.Group", `gv.Group == ""`, "./internal/observer", "TestRender"},
	{"a second kind that passes for the first", "internal/observer/queue.go", "q.kind, key.String(), q.name(key)", `"Foo", key.String(), "Foo "+key.String()`, "./internal/observer", "TestTwoKinds"},
	{"an escape sequence in the story", "internal/observer/story.go", "Harmless(text)", "text", "./internal/observer", "TestStoryOfEvents"},
	{"lost lines that nobody counts", "internal/observer/log.go", "l.missing += missing + countLines(lines)", "_ = missing", "./internal/observer", "TestLogToFullDisk"},
	{"a page for everybody", "internal/page/server.go", "serve.Listen(address, o.Remote,", "serve.Listen(address, true,", "./internal/page", "TestAddresses"},
	{"pprof for everybody", "kit/serve/health.go", "if o.Pprof {", "if true {", "./kit/serve", "TestHandler"},

	// How it is wired.
	{"a store of another kind", "main.go", "DeploymentStore: deployments.Store", "DeploymentStore: foos.Store", everything, "TestRun"},
	{"Deployments of all namespaces", "controller/foo/reconcile.go", "NewDeployments(kube, namespace", `NewDeployments(kube, ""`, everything, "TestFlags"},
	{"an informer that is not started", "main.go", "range informers {\n\t\trunning", "range informers[:1] {\n\t\trunning", everything, "TestRun"},
	{"an informer that is not awaited", "main.go", "syncTimeout, read...)", "syncTimeout, read[:1]...)", everything, "TestSync"},
	{"workers that wait for Projects", "main.go", "syncTimeout, read...)", "syncTimeout, informers...)", everything, "TestRights"},
	{"a sync that failed unnoticed", "main.go", "syncTimeout, read...); err != nil {", "syncTimeout, read...); err == context.Canceled {", everything, "TestRights"},
	{"a standby that lists", "main.go", "\treturn election.Run(ctx,", "\tgo foos.Run(ctx)\n\treturn election.Run(ctx,", everything, "TestLeader"},
	{"a standby that is never ready", "kit/leader/leader.go", "if e.options.Elect && !e.leads.Load() {", "if false {", everything, "TestLeader"},
	{"a leader that is ready too early", "kit/leader/leader.go", "if e.options.Elect && !e.leads.Load() {", "if true {", everything, "TestSync"},
	{"a standby that is ready without the Lease", "kit/leader/leader.go", "!isWithin(&e.lock.seen, e.options.LeaseDuration)", "false", "./kit/leader", "TestJoinedIsRecent"},
	{"a standby that is ready and may not write", "kit/leader/leader.go", "if isWithin(&e.lock.refused, e.options.LeaseDuration) {", "if false {", "./kit/leader", "TestJoinedIsRecent"},
	{"a standby whose right came late", "kit/leader/leader.go", "if isWithin(&e.lock.refused, e.options.LeaseDuration) {", "if e.lock.refused.Load() != nil {", "./kit/leader", "TestJoinedAgain"},
	{"ready without a right to the Lease", "main.go", "Err: election.Joined}}", "Err: election.Healthy}}", everything, "TestLeader"},
	{"owners of another kind", "controller/foo/reconcile.go", "fooKind.GroupKind(), func", `v1alpha1.Kind("Bar"), func`, everything, "TestSync"},
	{"Events that queue", "internal/events/events.go", "if !s.accept(kind) {", "if s.limits[false].Accept(); false {", "./internal/events", "TestSinkDrops"},
	{"an Event that is tried for two minutes", "internal/events/events.go", "err != nil && !answered {", "false && !answered {", "./internal/events", "TestSinkDrops"},
	{"a second loop that never runs", "main.go", "range loops {\n\t\t//", "range loops[:1] {\n\t\t//", everything, "TestLoops"},
	{"a sender of Events that never ends", "main.go", "defer stopEvents()", "_ = stopEvents", everything, "TestRun"},
	{"Events under the limit of the writes", "internal/events/events.go", "config.QPS, config.RateLimiter = -1, nil", "config.QPS = -1", everything, "TestLimits"},
}

// TestMutants builds the tests of each package once, with every mistake that is inside of a
// function: the environment says which one is made. A mistake elsewhere, such as in a type,
// has a build of its own.
func TestMutants(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	texts, packages := map[string]string{}, []string{}
	var alone []map[string]string // for each mistake, the text of its file; nil for one that is in texts
	for i, m := range mutants {
		if !slices.Contains(packages, m.pkg) {
			packages = append(packages, m.pkg)
		}
		alone = append(alone, mistake.Add(t, texts, filepath.Join(root, m.file), m.old, m.new, strconv.Itoa(i)))
	}
	together := mistake.Build(t, root, texts, packages...)
	for _, pkg := range packages {
		t.Run("none in "+pkg, func(t *testing.T) {
			t.Parallel()
			var tests []string
			for i, m := range mutants {
				if m.pkg == pkg && alone[i] == nil {
					tests = append(tests, m.test)
				}
			}
			if output, err := run(root, together, pkg, strings.Join(tests, "|"), "none"); err != nil {
				t.Errorf("the tests fail without a mistake:\n%s", output)
			}
		})
	}
	for i, m := range mutants {
		t.Run(m.mistake, func(t *testing.T) {
			t.Parallel()
			programs := together
			if alone[i] != nil {
				programs = mistake.Build(t, root, alone[i], m.pkg)
			}
			switch output, err := run(root, programs, m.pkg, m.test, strconv.Itoa(i)); {
			case err == nil:
				t.Errorf("%s lives: %s passes with it", m.mistake, m.test)
			case !strings.Contains(string(output), "--- FAIL: "+m.test):
				t.Errorf("%s fails for another reason than %s:\n%s", m.mistake, m.test, output)
			}
		})
	}
}

// run runs tests of a package, whose names are alternatives, with a mistake if it has that one.
func run(root, programs, pkg, tests, mutant string) ([]byte, error) {
	program := path.Base(path.Join("byhand", pkg)) + ".test"
	command := exec.Command(filepath.Join(programs, program), "-test.run=^("+tests+")$", "-test.timeout=5m")
	command.Dir, command.Env = filepath.Join(root, pkg), append(os.Environ(), mistake.Variable+"="+mutant)
	return command.CombinedOutput()
}
