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

	"example.com/byhand/internal/tests/mistake"
)

const (
	api        = "api/samplecontroller.k8s.io/v1alpha1/"
	everything = "." // the package of deepcopy_test.go and main_test.go
)

// mutants are common mistakes. new replaces old in file, and test in pkg must fail.
var mutants = []struct {
	mistake, file, old, new, pkg, test string
}{
	// Copies of objects.
	{"a shallow copy of the labels", api + "deepcopy.go", "f.ObjectMeta.DeepCopyInto(&out.ObjectMeta)", "", everything, "TestDeepCopySharesNoMemory"},
	{"a shallow copy of a slice", api + "deepcopy.go", "make([]metav1.Condition, len(s.Conditions))", "[]metav1.Condition(s.Conditions)", everything, "TestDeepCopySharesNoMemory"},
	{"a shallow copy of a pointer", api + "deepcopy.go", "new(*s.Replicas)", "s.Replicas", everything, "TestDeepCopySharesNoMemory"},
	{"list items that are shared", api + "deepcopy.go", "l.Items[i].DeepCopyInto(&out.Items[i])", "out.Items[i] = l.Items[i]", everything, "TestDeepCopySharesNoMemory"},
	{"a new field that DeepCopy forgets", api + "types.go", "DeploymentName string `json:\"deploymentName\"`", "DeploymentName string `json:\"deploymentName\"`\n\tForgotten map[string]string `json:\"forgotten\"`", everything, "TestDeepCopySharesNoMemory"},
	{"a new field that the schema lacks", api + "types.go", "DeploymentName string `json:\"deploymentName\"`", "DeploymentName string `json:\"deploymentName\"`\n\tForgotten string `json:\"forgotten\"`", "./internal/tests/schema", "TestKinds"},
	{"a misspelled field", api + "types.go", `json:"replicas,omitempty"`, `json:"replica,omitempty"`, "./internal/tests/schema", "TestKinds"},
	{"a misspelled group", "api/examples-gzh.com/v1alpha1/register.go", `GroupName = "examples-gzh.com"`, `GroupName = "example-gzh.com"`, "./internal/tests/schema", "TestKinds"},
	{"nil becomes empty", api + "deepcopy.go", "if s.Conditions != nil {", "if true {", everything, "TestDeepCopyKeepsNilAndEmpty"},

	// Requests.
	{"a wrong method", "clientset/foo.go", "c.client.Put()", "c.client.Post()", "./clientset", "TestFooRequests"},
	{"a wrong path segment", "clientset/project.go", `Resource("projects")`, `Resource("project")`, "./clientset", "TestProjectRequests"},
	{"a group misspelled in the base path", "clientset/clientset.go", `config.APIPath = "/apis"`, `config.APIPath = "/api"`, "./clientset", "TestFooRequests"},
	{"a subresource forgotten", "clientset/foo.go", `SubResource("status").`, "", "./clientset", "TestFooRequests"},
	{"an option dropped", "clientset/foo.go", "VersionedParams(&listOpts, ParameterCodec).", "", "./clientset", "TestFooRequests"},
	{"TimeoutSeconds lost", "clientset/clientset.go", "return time.Duration(ptr.Deref(opts.TimeoutSeconds, 0)) * time.Second", "return 0", "./clientset", "TestFooRequests"},
	{"a wrong codec", "clientset/clientset.go", "Codecs.WithoutConversion()", "Codecs", "./clientset", "TestFooRequests"},
	{"a kind that is not registered", api + "register.go", "&Foo{},", "", "./internal/tests/schema", "TestKinds"},
	{"a list that is not registered", "api/examples-gzh.com/v1alpha1/register.go", "&ProjectList{},", "", "./internal/tests/schema", "TestKinds"},
	{"an apply that cannot leave a field out", api + "applyconfiguration/foo.go", `json:"deploymentName,omitempty"`, `json:"deploymentName"`, "./internal/tests/schema", "TestApplyConfigurations"},
	{"the caller's configuration changed", "clientset/clientset.go", "config := *c\n\tif config.UserAgent", "config := *c\n\tc.UserAgent = \"changed\"\n\tif config.UserAgent", "./clientset", "TestNewForConfigLeavesConfigAlone"},
	{"a rate limiter for each group", "clientset/clientset.go", "config.RateLimiter = flowcontrol", "_ = flowcontrol", "./clientset", "TestGroupsShareOneRateLimiter"},
	{"a fake that claims to stream lists", "clientset/fake/clientset.go", "func (c *Clientset) IsWatchListSemanticsUnSupported() bool { return true }", "func (c *Clientset) IsWatchListSemanticsUnSupported() bool { return false }", "./clientset/fake", "TestInformerSyncs"},

	// Package informer.
	{"store: managedFields are kept", "informer/informer.go", "accessor.SetManagedFields(nil)", "_ = accessor", "./informer", "TestResync"},
	{"request: Deployments of all namespaces are listed", "informer/deployment.go", "Deployments(namespace).List", `Deployments("").List`, "./informer", "TestRequestPaths"},
	{"request: the first LIST may be old", "informer/ready.go", `if opts.ResourceVersion == "0" {`, "if false {", "./informer", "TestNoListIsOld"},
	{"handler: it cannot be replaced", "informer/informer.go", "i.Handler.ResourceEventHandler, options.Handler = options.Handler, &i.Handler", "i.Handler.ResourceEventHandler = options.Handler", "./informer", "TestHandlerIsReplaced"},
	{"resync: it never happens", "informer/foo.go", "ResyncPeriod: resync", "ResyncPeriod: 0 * resync", "./informer", "TestResync"},
	{"index: the namespace is ignored", "informer/foo.go", "cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName)", `cache.NewObjectName("default", foo.Spec.DeploymentName)`, "./informer", "TestIndexes"},
	{"index: an owner that does not control counts", "informer/deployment.go", "if owner == nil {\n\t\t\treturn nil, nil", "if owner == nil {\n\t\t\treturn []string{\"default/one\"}, nil", "./informer", "TestIndexes"},
	{"Run: it waits for a Reflector that sleeps", "informer/informer.go", "\tgo i.controller.RunWithContext(ctx)\n", "\tended := make(chan struct{})\n\tgo func() { i.controller.RunWithContext(ctx); close(ended) }()\n\tdefer func() { <-ended }()\n", "./informer", "TestRunEnds"},
	{"Ready: a lost permission counts only after a minute", "informer/ready.go", "apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)", "false", "./informer", "TestReady"},
	{"Ready: a closed watch counts only after two minutes", "informer/ready.go", "blind > time.Minute", "blind > 2*time.Minute", "./informer", "TestReady"},
	{"Ready: a watch that ends at once counts as open", "informer/ready.go", "time.Since(c.opened) > 10*time.Second", "time.Since(c.opened) >= 0", "./informer", "TestReady"},
	{"Ready: the end of a watch is not recorded", "informer/ready.go", "return trackedWatch{stream, c}, nil", "return stream, nil", "./informer", "TestReadyWithoutWatch"},
	{"Ready: the next request hides the error", "informer/ready.go", "cmp.Or(err, c.err)", "err", "./informer", "TestWaitForSyncNamesError"},

	// Package controller.
	{"reconcile: the end of Run cancels it", "controller/controller.go", "context.WithoutCancel(ctx)", "ctx", "./controller", "TestRunAwaitsWorkers"},
	{"reconcile: no timeout", "controller/controller.go", "context.WithTimeout(context.WithoutCancel(ctx), ReconcileTimeout)", "context.WithCancel(context.WithoutCancel(ctx))", "./controller", "TestReconcileTimeout"},
	{"Run: it does not wait for its workers", "controller/controller.go", "\trunning.Wait()\n", "", "./controller", "TestRunAwaitsWorkers"},
	{"Run: a worker takes a key after the end", "controller/controller.go", "shutdown || ctx.Err() != nil", "shutdown", "./controller", "TestNoKeyAfterTheEnd"},
	{"Run: retries use all workers", "controller/controller.go", "max(1, workers/2)", "workers", "./controller", "TestRetriesLeaveWorkers"},
	{"error: the key does not back off", "controller/controller.go", "\"key\", key)\n\t\tc.queue.AddRateLimited(key)", "\"key\", key)\n\t\tc.queue.Add(key)", "./controller", "TestRetry"},
	{"race: it is logged as an error", "controller/controller.go", "case IsRace(err) &&", "case false &&", "./controller", "TestErrorsAreLogged"},
	{"race: it is never logged as an error", "controller/controller.go", "c.queue.NumRequeues(key) < 10", "true", "./controller", "TestRaceThatLasts"},
	{"panic: it counts as a success", "controller/controller.go", `fmt.Errorf("panic: %v\n%s", reason, debug.Stack())`, `map[string]error{fmt.Sprint(debug.Stack()): nil}[""]`, "./controller", "TestPanicIsRetried"},
	{"rejection: a status code alone does not count", "controller/controller.go", "apierrors.IsForbidden(err) ||", `apierrors.ReasonForError(err) == "Forbidden" ||`, "./controller/foo", "TestDeniedByWebhook"},
	{"retry: a key that lost a race counts as failing", "controller/retries.go", "!IsRace(err)", "true", "./controller", "TestRetriesLeaveWorkers"},
	{"retry: a key above the limit is dropped", "controller/retries.go", "return time.Second, nil", "return 0, nil", "./controller", "TestRetriesLeaveWorkers"},
	{"back-off: it does not grow", "controller/queue.go", "30*time.Second)", "5*time.Millisecond)", "./controller", "TestRetryIsCappedAndPerKey"},
	{"back-off: an event ends it", "controller/queue.go", "if shutdown ||", "if true || shutdown ||", "./controller", "TestEventDoesNotShortenBackOff"},
	{"back-off: an early key is dropped", "controller/queue.go", "\t\tq.AddAfter(key, remaining)\n", "", "./controller", "TestShortDelayBeforeBackOff"},
	{"back-off: Forget does not end it", "controller/queue.go", "\tdelete(q.backOff, key)\n", "", "./controller", "TestEventDoesNotShortenBackOff"},
	{"back-off: a new spec does not end it", "controller/handlers.go", "was.GetUID() != is.GetUID() || was.GetGeneration() != is.GetGeneration()", "was.GetUID() != is.GetUID()", "./controller", "TestEventsThatEndBackOff"},
	{"back-off: a new object with an old name waits for it", "controller/handlers.go", "was.GetUID() != is.GetUID() || ", "", "./controller", "TestEventsThatEndBackOff"},
	{"handler: the owner is not read from a tombstone", "controller/handlers.go", "obj = tombstone.Obj", "_ = tombstone", "./controller", "TestEnqueueOwner"},
	{"handler: the former owner is not enqueued", "controller/handlers.go", "\t\t\t\tenqueue(before, true)\n", "", "./controller", "TestEnqueueOwner"},
	{"lanes: a waiting key that changes keeps its place", "controller/priority.go", "changed && !l.waiting[key]", "changed && false", "./controller", "TestQueueOrder"},
	{"lanes: a retry counts as a change", "controller/priority.go", "\t\t\tl.changed.Delete(key)\n", "", "./controller", "TestQueueOrder"},
	{"lanes: the low lane starves", "controller/priority.go", "(l.turns%8 != 0 || len(l.low) == 0)", "true", "./controller", "TestLowPriorityIsNotStarved"},
	{"writes: none is awaited", "controller/readyourwrites.go", "order >= 0", "order >= -1", "./controller/foo", "TestOwnWritesAreAwaited"},
	{"writes: a rejected one is awaited", "controller/readyourwrites.go", "if err != nil && !IsRace(err) {", "if false {", "./controller", "TestRejectedWriteIsNotAwaited"},
	{"writes: an invented Conflict is awaited for an hour", "controller/readyourwrites.go", "20 * time.Second", "time.Hour", "./controller", "TestInventedConflict"},
	{"rewrites: the third write is an error", "controller/rewrites.go", "last.times > 3", "last.times > 2", "./controller", "TestRewrites"},
	{"rewrites: they count for an hour", "controller/rewrites.go", "time.Minute)", "time.Hour)", "./controller", "TestRewrites"},
	{"rewrites: the first generation counts forever", "controller/rewrites.go", "last.generation != object.GetGeneration() || ", "", "./controller", "TestRewrites"},

	// Package foo.
	{"reconcile: it reads the cache before it knows that the cache is new", "controller/foo/reconcile.go", "\tif !r.Writes.Observed(key) {\n\t\treturn controller.CacheRetry, nil\n\t}\n\n\tfoo, exists := get[*v1alpha1.Foo](r.FooStore, key)\n", "\tfoo, exists := get[*v1alpha1.Foo](r.FooStore, key)\n\tif !r.Writes.Observed(key) {\n\t\treturn controller.CacheRetry, nil\n\t}\n", "./controller/foo", "TestStoreCatchesUpMeanwhile"},
	{"reconcile: a Foo that is being deleted gets a Deployment", "controller/foo/reconcile.go", "!exists || foo.DeletionTimestamp != nil", "!exists", "./controller/foo", "TestNothingToDo"},
	{"reconcile: a status is written after a race", "controller/foo/reconcile.go", "if controller.IsRace(err) {", "if false {", "./controller/foo", "TestCreateFindsDeployment"},
	{"reconcile: a failed write is not reported", "controller/foo/reconcile.go", "if controller.IsRace(err) {", "if err != nil {", "./controller/foo", "TestDeniedByPolicy"},
	{"reconcile: a blocked Foo is retried", "controller/foo/reconcile.go", "err = nil // A retry", "// A retry", "./controller/foo", "TestInvalid"},
	{"Deployment: its requests leave no time for the status", "controller/foo/deployment.go", "controller.ReconcileTimeout/2", "controller.ReconcileTimeout", "./controller/foo", "TestSlowWriteIsTold"},
	{"Deployment: an object of the store is changed", "controller/foo/deployment.go", "desired := deployment.DeepCopy()", "desired := deployment", "./controller/foo", "TestDrift"},
	{"Deployment: an update overwrites a newer version", "controller/foo/deployment.go", "desired := deployment.DeepCopy()", "desired := deployment.DeepCopy()\n\tdesired.ResourceVersion = \"\"", "./controller/foo", "TestConflict"},
	{"Deployment: it is created for a deleted Foo", "controller/foo/deployment.go", "foo.Status.ObservedGeneration > 0", "false", "./controller/foo", "TestGoneLater"},
	{"Deployment: a changed response counts as a success", "controller/foo/deployment.go", "len(fields) > 0 {", "false && len(fields) > 0 {", "./controller/foo", "TestRenameBesideWebhook"},
	{"Deployment: a rejected version is sent again", "controller/foo/deployment.go", "\t\tr.Writes.AwaitChange(cache.MetaObjectToName(foo), r.DeploymentStore, deployment, err)\n", "", "./controller/foo", "TestConflict"},
	{"Deployment: reverted writes are not an error", "controller/foo/deployment.go", `cmp.Or(r.Rewrites.Err(foo, "Deployment"), r.Rewrites.Err(foo, "deletion"))`, `cmp.Or(r.Rewrites.Err(foo, "deletion"))`, "./controller/foo", "TestNoHotLoop"},
	{"Deployment: a rename resets the replicas", "controller/foo/deployment.go", "if old.DeletionTimestamp == nil {", "if false {", "./controller/foo", "TestRenameKeepsNumber"},
	{"Deployment: a rename keeps the replicas of one that is being deleted", "controller/foo/deployment.go", "if old.DeletionTimestamp == nil {", "if true {", "./controller/foo", "TestNewDeploymentKeepsReplicas"},
	{"Deployment: replicas that an autoscaler set are changed", "controller/foo/deployment.go", "if foo.Spec.Replicas != nil { // nil leaves the number to an autoscaler.\n\t\tdeployment.Spec.Replicas = new(*foo.Spec.Replicas)\n\t}", "deployment.Spec.Replicas = new(ptr.Deref(foo.Spec.Replicas, 1))", "./controller/foo", "TestApplySpec"},
	{"differences: a removed owner reference is missed", "controller/foo/deployment.go", "if !metav1.IsControlledBy(deployment, foo) {", "if false {", "./controller/foo", "TestOwnerIsStripped"},
	{"differences: a changed image is missed", "controller/foo/deployment.go", "container == nil || container.Image != containerImage", "container == nil", "./controller/foo", "TestDrift"},
	{"holder: a Deployment that is being deleted counts as the Foo's", "controller/foo/blocked.go", "case deployment.DeletionTimestamp != nil:", "case false:", "./controller/foo", "TestLeavingDeployment"},
	{"holder: a Deployment without a controller counts as the Foo's", "controller/foo/blocked.go", "case owner == nil:", "case owner == nil:\n\t\treturn nil", "./controller/foo", "TestCalculateStatus"},
	{"holder: the owner is compared by name", "controller/foo/blocked.go", "case owner.UID == foo.UID:", "case owner.Name == foo.Name:", "./controller/foo", "TestCalculateStatus"},
	{"holder: a deleted Foo keeps the name taken", "controller/foo/blocked.go", "(!exists || other.UID != owner.UID)", "exists && other.UID != owner.UID", "./controller/foo", "TestCalculateStatus"},
	{"holder: an earlier Foo with the same name keeps it taken", "controller/foo/blocked.go", "(!exists || other.UID != owner.UID)", "(!exists || other == nil)", "./controller/foo", "TestCalculateStatus"},
	{"holder: an owner of another kind counts as a deleted Foo", "controller/foo/blocked.go", "controller.IsKind(owner, fooKind.GroupKind()) && ", "", "./controller/foo", "TestCalculateStatus"},
	{"rename: a blocked Foo deletes its old Deployment", "controller/foo/deployment.go", "return deployment, err // Keep", "return deployment, errors.Join(err, r.deleteRenamed(ctx, foo, owned)) // Keep", "./controller/foo", "TestBlockedFooDeletesNothing"},
	{"rename: nothing confirms the Foo", "controller/foo/rename.go", "\tif err := r.confirmFoo(ctx, foo); err != nil {\n\t\treturn err\n\t}\n", "", "./controller/foo", "TestStaleStoreDeletesNothing"},
	{"rename: nothing confirms the owner of the new Deployment", "controller/foo/rename.go", "!metav1.IsControlledBy(current, foo) || ", "", "./controller/foo", "TestRenameToLostDeployment"},
	{"rename: a new Deployment that is being deleted is enough", "controller/foo/rename.go", " || current.DeletionTimestamp != nil", "", "./controller/foo", "TestRenameToLostDeployment"},
	{"rename: a Deployment with the old name is deleted", "controller/foo/rename.go", "Preconditions: &metav1.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion},", "", "./controller/foo", "TestRenameKeepsWhatIsNew"},
	{"rename: a Deployment that has changed is deleted", "controller/foo/rename.go", ", ResourceVersion: &old.ResourceVersion}", "}", "./controller/foo", "TestRenameOfReleasedDeployment"},
	{"rename: a deletion is not awaited", "controller/foo/rename.go", "\tr.Writes.AwaitChange(cache.MetaObjectToName(foo), r.DeploymentStore, old, err)\n", "", "./controller/foo", "TestRename"},
	{"rename: copies are deleted in a hot loop", "controller/foo/rename.go", "\tr.Rewrites.Record(foo, \"deletion\", nil)", "\t_ = 0", "./controller/foo", "TestNoHotLoop"},
	{"confirm: another Foo with the same name is enough", "controller/foo/rename.go", "live.UID != foo.UID || ", "", "./controller/foo", "TestReplacedFoo"},
	{"status: a changed response counts as a success", "controller/foo/status.go", "if !equality.Semantic.DeepEqual(updated.Status, status) {", "if false {", "./controller/foo", "TestStatusIsChanged"},
	{"status: reverted writes are not an error", "controller/foo/status.go", `return r.Rewrites.Err(foo, "status")`, "return nil", "./controller/foo", "TestNoHotLoop"},
	{"status: a known reason causes an Event", "controller/foo/status.go", "ready.Reason != readyOf(foo.Status).Reason && ", "", "./controller/foo", "TestForeignDeployment"},
	{"status: a reason that needs no action causes an Event", "controller/foo/status.go", " && !slices.Contains(reasonsWithoutEvent, ready.Reason)", "", "./controller/foo", "TestLeavingDeployment"},
	{"status: a blocked Foo reports no replicas", "controller/foo/status.go", "range owned {", "range owned[:0] {", "./controller/foo", "TestBlockedStatusIsObserved"},
	{"status: another identifier is a new message", "controller/foo/status.go", " && sameWords(was.Message, ready.Message)", " && was.Message == ready.Message", "./controller/foo", "TestRefusalIsStable"},
	{"status: each write changes the time of the transition", "controller/foo/status.go", "meta.SetStatusCondition(&status.Conditions, ready)", "status.Conditions = []metav1.Condition{ready}", "./controller/foo", "TestStatusKeepsItsTime"},
	{"reason: a rejection is not told apart", "controller/foo/status.go", "case controller.IsRejected(err):", "case false:", "./controller/foo", "TestCalculateStatus"},
	{"rollout: a status of an older spec is enough", "controller/foo/status.go", "is.ObservedGeneration >= d.Generation && ", "", "./controller/foo", "TestCalculateStatus"},
	{"rollout: Pods of an earlier template are enough", "controller/foo/status.go", "is.UpdatedReplicas == desired && ", "", "./controller/foo", "TestCalculateStatus"},
	{"rollout: a quota on Pods is not reported", "controller/foo/status.go", "c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue, ", "", "./controller/foo", "TestCalculateStatus"},
	{"status: its message is too long", "controller/foo/status.go", "message[:min(len(message), 1024)]", "message", "./controller/foo", "TestLongMessage"},

	// Metrics, health, trace and page.
	{"a metric renamed", "kit/metrics/reconcile.go", `"controller_runtime_active_workers"`, `"controller_runtime_busy_workers"`, "./kit/metrics", "TestReconcile"},
	{"client-go's metrics missing", "kit/metrics/metrics.go", `_ "k8s.io/component-base/metrics/prometheus/clientgo"`, "", "./kit/metrics", "TestClientGo"},
	{"a relist taken for a resync", "internal/observe/observer/handler.go", "case before == after:", "case metaOf(before).GetResourceVersion() == metaOf(after).GetResourceVersion():", "./internal/observe/observer", "TestHandler"},
	{"a key without the event that added it", "internal/observe/observer/handler.go", "h.observer.handles.Store(h)", "", "./internal/observe/observer", "TestHandler"},
	{"a panic swallowed", "internal/observe/observer/reconcile.go", "\t\tcase !returned:\n", "\t\tcase !returned:\n\t\t\trecover()\n", "./internal/observe/observer", "TestResults"},
	{"ready before it is", "kit/serve/health.go", `code, verdict = http.StatusServiceUnavailable, "failed"`, `verdict = "failed"`, "./kit/serve", "TestHandler"},
	{"a password on the page", "internal/observe/observer/kind.go", "\tif k.Shown != nil {\n", "\tif false {\n", "./internal/observe/observer", "TestRender"},
	{"everybody's annotations on the page", "internal/observe/observer/kind.go", "k.GVK.Group == group", "k.GVK.Group != group", "./internal/observe/observer", "TestRender"},
	{"a Foo of another group", "internal/observe/observer/kind.go", "gv.Group != kind.GVK.Group", `gv.Group == ""`, "./internal/observe/observer", "TestRender"},
	{"a second kind that passes for the first", "internal/observe/observer/queue.go", "q.kind, key.String(), q.name(key)", `"Foo", key.String(), "Foo "+key.String()`, "./internal/observe/observer", "TestTwoKinds"},
	{"an escape sequence in the log line", "internal/observe/observer/log.go", "Harmless(text)", "text", "./internal/observe/observer", "TestLogOfEvents"},
	{"an escape sequence in the log", "internal/observe/observer/print.go", "lines[i] = Harmless(line)", "lines[i] = line", "./internal/observe/observer", "TestTimelineIsHarmless"},
	{"a page for everybody", "internal/observe/page/server.go", "serve.Listen(address, o.Remote,", "serve.Listen(address, true,", "./internal/observe/page", "TestAddresses"},
	{"pprof for everybody", "kit/serve/health.go", "if o.Pprof {", "if true {", "./kit/serve", "TestHandler"},

	// Wiring, Events and leader election.
	{"wiring: a store has the wrong kind", "main.go", "DeploymentStore: deployments.Store", "DeploymentStore: foos.Store", everything, "TestRun"},
	{"wiring: Deployments of all namespaces are read", "controller/foo/reconcile.go", "NewDeployments(kube, namespace", `NewDeployments(kube, ""`, everything, "TestFlags"},
	{"wiring: a Foo does not wait for the name of its Deployment", "controller/foo/reconcile.go", ", informer.FoosNaming(foos.Store))", ")", "./controller/foo", "TestNewInformers"},
	{"wiring: an informer is not started", "main.go", "[]*informer.Informer{projects, foos, deployments}", "[]*informer.Informer{foos, deployments}", everything, "TestRun"},
	{"wiring: an informer is not awaited", "main.go", "syncTimeout, foos, deployments)", "syncTimeout, foos)", everything, "TestSync"},
	{"wiring: workers wait for Projects", "main.go", "syncTimeout, foos, deployments)", "syncTimeout, projects, foos, deployments)", everything, "TestRights"},
	{"wiring: workers start without a complete list", "main.go", "syncTimeout, foos, deployments); err != nil {", "syncTimeout, foos, deployments); err == context.Canceled {", everything, "TestRights"},
	{"wiring: a process on standby lists", "main.go", "\treturn election.Run(ctx,", "\tgo foos.Run(ctx)\n\treturn election.Run(ctx,", everything, "TestLeader"},
	{"wiring: a reconcile does not check the Lease", "main.go", "election.OnlyWhileLeading(reconciler.Reconcile)", "reconciler.Reconcile", everything, "TestLeader"},
	{"wiring: ready without permission for the Lease", "internal/observe/app/view.go", "Err: election.Joined}}", "Err: election.Healthy}}", everything, "TestLeader"},
	{"wiring: a process on standby must have listed", "internal/observe/app/view.go", "election.WhileLeading(i.Ready)", "i.Ready", everything, "TestLeader"},
	{"wiring: the sender of Events never stops", "main.go", "defer stopEvents()", "_ = stopEvents", everything, "TestRun"},
	{"Events under the limit of the writes", "kit/events/events.go", "config.QPS, config.RateLimiter = -1, nil", "config.QPS = -1", everything, "TestLimits"},
	{"Events that queue", "kit/events/events.go", "if limiter.TryAccept() {", "if limiter.Accept(); true {", "./kit/events", "TestRecorderDrops"},
	{"an Event that is tried for two minutes", "kit/events/events.go", "err != nil && !answered {", "false && !answered {", "./kit/events", "TestSinkDrops"},
	{"a standby that is never ready", "kit/leader/leader.go", "if e.options.Elect && !e.leads.Load() {", "if false {", everything, "TestLeader"},
	{"a leader that is ready too early", "kit/leader/leader.go", "if e.options.Elect && !e.leads.Load() {", "if true {", everything, "TestSync"},
	{"a standby that is ready without the Lease", "kit/leader/leader.go", "!isWithin(&e.lock.seen, e.options.LeaseDuration)", "false", "./kit/leader", "TestJoinedIsRecent"},
	{"a standby that is ready and may not write", "kit/leader/leader.go", "if isWithin(&e.lock.refused, e.options.LeaseDuration) {", "if false {", "./kit/leader", "TestJoinedIsRecent"},
	{"a standby whose permission came late", "kit/leader/leader.go", "if isWithin(&e.lock.refused, e.options.LeaseDuration) {", "if e.lock.refused.Load() != nil {", "./kit/leader", "TestJoinedAgain"},
	{"a Lease released while a worker is busy", "kit/leader/leader.go", "klog.NewContext(context.Background(), ", "klog.NewContext(ctx, ", "./kit/leader", "TestReleasesAfterLastWorker"},
	{"a Lease kept by who has ended before the answer", "kit/leader/leader.go", "\te.giveAway()\n", "\tif e.elector.IsLeader() {\n\t\te.giveAway()\n\t}\n", "./kit/leader", "TestEndsWhileAcquiring"},
	{"a Lease kept by work that failed", "kit/leader/leader.go", "\te.giveAway()\n", "", "./kit/leader", "TestEndsWhileAcquiring"},
	{"a frozen leader that works on", "kit/leader/leader.go", " || !isWithin(&e.lock.renewed, e.options.LeaseDuration)", "", "./kit/leader", "TestLeaseLost"},
	{"a Lease that counts from the answer", "kit/leader/leader.go", "record.RenewTime.Add(-time.Duration(record.RenewTime.Nanosecond()))", "time.Now()", "./kit/leader", "TestOneWorks"},
	{"work that goes on after the Lease is lost", "kit/leader/leader.go", "defer stop()", "_ = stop", "./kit/leader", "TestLeaseLost"},
}

// TestMutants builds the tests of each package once, with all mistakes inside functions: the environment
// selects one. Other mistakes need a separate build.
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
				t.Errorf("%s is not found: %s passes with it", m.mistake, m.test)
			case !strings.Contains(string(output), "--- FAIL: "+m.test):
				t.Errorf("%s: the test program fails, but not in %s:\n%s", m.mistake, m.test, output)
			}
		})
	}
}

// run runs tests of a package with a mistake, or without one if the package does not have it. tests are names
// separated by |.
func run(root, programs, pkg, tests, mutant string) ([]byte, error) {
	program := path.Base(path.Join("byhand", pkg)) + ".test"
	command := exec.Command(filepath.Join(programs, program), "-test.run=^("+tests+")$", "-test.timeout=5m")
	command.Dir, command.Env = filepath.Join(root, pkg), append(os.Environ(), mistake.Variable+"="+mutant)
	return command.CombinedOutput()
}
