package verdict

import (
	"net/http"
	"slices"
	"strings"
)

// Lesson explains a sort of violation.
type Lesson struct {
	// why it matters, a similar real bug ("" if none is known), and the file of this repository that does it
	// right.
	why, resembles, right string
}

var (
	Absent = &Lesson{
		"The user's wish is not carried out, and nothing will make the program look again.",
		"sky-uk/cassandra-operator#170: the state before was in memory only, so what changed while the program was down was not acted on",
		"controller/foo/reconcile.go: a reconcile compares states, and does not depend on which event it was",
	}
	Untouched = &Lesson{
		"The program has written nothing at all: no event led it to this Foo, or it found nothing to do.",
		"",
		"controller/handlers.go: which events lead to which Foo; controller/foo/reconcile.go: the reconcile",
	}
	gaveUp = &Lesson{
		"The last write was rejected or got no answer, and the program has not tried again.",
		"sky-uk/cassandra-operator#53: updates that failed are not applied again, and the cluster stays in another state",
		"controller/controller.go: a reconcile returns the error, and its key comes back later",
	}
	createsAgain = &Lesson{
		"The program creates an object that exists, again and again: it does not find the object in its store. Is the key namespace/name, and is the informer running?",
		"",
		"controller/handlers.go: a key is namespace/name; controller/foo/reconcile.go: the lookup in the store",
	}
	invalid = &Lesson{
		"The API server rejects the object itself, each time. Its message names the field. An object from a store has no kind and no apiVersion: an owner reference needs both from the program.",
		"",
		"controller/foo/deployment.go: newDeployment, with the kind of its owner",
	}
	rejected = &Lesson{
		"The API server rejects each try. Its message says why.",
		"",
		"controller/queue.go: the key comes back later, each time twice as late; config/rbac/role.yaml: the rights",
	}
	unread = &Lesson{
		"The program has never listed or watched Deployments, so it cannot know how many replicas are available.",
		"",
		"informer/informer.go: each informer needs Run, and WaitForSync waits for all of them",
	}
	Missed = &Lesson{
		"The program did not act on a change that it had missed. After the next list an informer reports a missed deletion as a DeletedFinalStateUnknown (a tombstone), which a handler must unpack.",
		"sky-uk/cassandra-operator#170: the state before was in memory only, so what changed while the program was down was not acted on",
		"controller/handlers.go: the handlers unpack a DeletedFinalStateUnknown; informer/doc.go: Calls of the handler",
	}
	tombstone = &Lesson{
		"A deletion that was missed comes as a DeletedFinalStateUnknown (a tombstone): a handler that takes it for the object panics or ignores it.",
		"",
		"controller/handlers.go: the handlers unpack a DeletedFinalStateUnknown",
	}
	panics = &Lesson{
		"A panic in a goroutine of the program ends all of it. The frame above is the first of the program itself.",
		"",
		"controller/controller.go: a panic in a reconcile becomes an error; controller/handlers.go: handlers cannot rely on the type of an object",
	}
	Freed = &Lesson{
		"The user has asked to keep the Deployment. A missing Foo is no reason to delete anything: the garbage collector deletes its dependents.",
		"",
		"controller/foo/doc.go: Deletion",
	}
	wrongSpec = &Lesson{
		"The cluster does not run what the Foo asks for.",
		"sky-uk/cassandra-operator#53: updates that failed are not applied again, and the cluster stays in another state",
		"controller/foo/deployment.go: each reconcile compares the Deployment with the spec (differences)",
	}
	Drifted = &Lesson{
		"A manual change stays until it causes damage, and nothing reports it.",
		"sky-uk/cassandra-operator#53: what a person has changed or deleted is never set back; and Kubernetes' own sample-controller, whose syncHandler compares the replicas and nothing else",
		"controller/foo/deployment.go: differences compares each field that the program sets. An object of a store is shared: change a DeepCopy of it",
	}
	wrongStatus = &Lesson{
		"People and programs decide by the status. One that is not true is worse than none.",
		"kubernetes/kubernetes#120732: the status of a StatefulSet has fewer Pods than there are, and a rolling update decides by it",
		"controller/foo/status.go: the status is computed from the current state, as a whole, and set in a DeepCopy: an object of a store is shared",
	}
	Uncontrolled = &Lesson{
		"Without the owner reference no program knows whose the Deployment is, and the garbage collector never deletes it.",
		"datastax/cass-operator#168: children without owner references",
		"controller/foo/deployment.go: newDeployment sets the controller reference",
	}
	Undone = &Lesson{
		"A cache may be older than the last write. A program that acts on it scales workloads back and forth, or deletes them.",
		"elastic/cloud-on-k8s#4956 and elastic/cloud-on-k8s#5274: after a restart the program reads old data, and scales down what runs",
		"informer/ready.go: the first list is the newest; controller/readyourwrites.go: later ones are not acted on before they show the last write",
	}
	Mistaken = &Lesson{
		"The object being deleted had the same name as a live one. A DELETE by name without a UID deletes the live one.",
		"rabbitmq/cluster-operator#648: after a restart the program reads that the object is being deleted, and deletes what belongs to its successor",
		"controller/foo/rename.go: the UID and the resourceVersion are preconditions of the DELETE",
	}
	Untold = &Lesson{
		"While writes fail, people look at the status, and it is out of date. Counting the available replicas needs no write of the Deployment.",
		"kubernetes/kubernetes#108837: a Pod is refused by a quota, and the status of the StatefulSet does not count a Pod that became ready",
		"controller/foo/reconcile.go: Reconcile writes the status also when the Deployment could not be written",
	}
	Gap = &Lesson{
		"If creating the new one fails (a quota, a webhook), nothing runs at all.",
		"apecloud/kubeblocks#5366: the Pods are deleted for a change that the namespace's quota does not admit",
		"controller/foo/deployment.go: syncDeployment creates the new Deployment first",
	}
	Noisy = &Lesson{
		"Each write costs the API server and etcd, and wakes every client that watches. A loop of them is an outage.",
		"kubernetes/sample-controller#29 and multigres/multigres-operator#185: each reconcile writes the status, and each write leads to the next reconcile",
		"controller/foo/status.go: updateStatus compares before it writes",
	}
	noisyObject = &Lesson{
		"Each write costs the API server and etcd, and wakes every client that watches. The API server adds defaults: a program that compares the whole object always finds a difference.",
		"prometheus-operator/prometheus-operator#3980: an update is sent although nothing differs",
		"controller/foo/deployment.go: differences compares only the fields that the program sets, and not the API server's defaults",
	}
	Twice = &Lesson{
		"Twice the Pods, twice the cost, and two that both believe they are the only one.",
		"kubernetes-sigs/kubebuilder#1381: the cache does not show a new child yet, and the program creates a second",
		"controller/readyourwrites.go: no reconcile before the cache shows the last write; names are the same every time",
	}
	LeftOver = &Lesson{
		"The old Deployment runs on, because its owner still exists. No person looks for it.",
		"kubernetes/sample-controller#75: changing deploymentName creates a new Deployment and leaves the old one",
		"controller/foo/rename.go",
	}
	Orphaned = &Lesson{
		"Leftovers cost money, serve old versions, and block their names.",
		"zalando/postgres-operator#2678: deleted while the program was down, and its dependents stay",
		"controller/foo/deployment.go: the owner reference is in the first write, so nothing has to be remembered",
	}
	ForTheDying = &Lesson{
		"The garbage collector has to delete the new one, too, and the new one can block its owner again: the two work against each other.",
		"kubernetes/kubernetes#64313: a DaemonSet is deleted in the foreground, its controller goes on to manage it, and the deletion does not end",
		"controller/foo/reconcile.go: Reconcile does nothing for a Foo with a deletionTimestamp",
	}
	Foreign = &Lesson{
		"It breaks what belongs to another person or program, and may never be found out.",
		"ai-dynamo/dynamo#13474: an operator can update and delete objects of the right name that another controller owns",
		"controller/foo/blocked.go: checkHolder compares the UID of the owner before each write",
	}
	Different = &Lesson{
		"A fault has left a mark that no later reconcile removes.",
		"Azure/azure-service-operator#5633: a crash between a creation and the note of it, and the new object is never deleted",
		"README.md: a reconcile is level-triggered, whatever was missed; it ends in the same state",
	}
	Late = &Lesson{
		"There was no fault: the program was only started later, and got another result from the same objects. If the field is meant to depend on what happened before, allow it.",
		"sky-uk/cassandra-operator#170: the state before was in memory only, so what changed while the program was down was not acted on",
		"controller/foo/status.go: the status is computed from the current state, as a whole",
	}
	Exits = &Lesson{
		"A program that ends for a fault that passes needs a supervisor to start it again, and each start lists everything.",
		"kedacore/keda#4646: the program is started again and again while the API server is away",
		"informer/informer.go: errors of a watch are retried, the program goes on",
	}
	Stays = &Lesson{
		"A program that ignores SIGTERM is killed in the middle of a write, and its successor waits until the Lease expires.",
		"",
		"controller/controller.go: Run returns when its context is done and each worker has finished",
	}
	Restless = &Lesson{
		"Neither the program nor the API server has time for anything else.",
		"kubernetes/kubernetes#27634 and kubernetes/kubernetes#30629: controllers try again without a pause when they are refused",
		"controller/queue.go: each failure doubles the pause of its key",
	}
	Flood = &Lesson{
		"The API server that is in trouble gets more requests than before, from each copy of the program.",
		"kubernetes/kubernetes#27634 and kubernetes/kubernetes#30629: controllers try again without a pause when they are refused",
		"controller/queue.go: each failure doubles the pause of its key",
	}
	Endless = &Lesson{
		"A write that something changes back is an event, and the event leads to the next write: the back-off of a queue delays what failed, and not what an event adds.",
		"kubernetes/kubernetes#57167: the API server changes a ReplicaSet, and the Deployment controller creates a new one, again and again",
		"controller/rewrites.go: a repeated write is an error; controller/queue.go: no event ends a back-off",
	}
	Repeated = &Lesson{
		"A message with a new identifier each time makes every try a write, and each write wakes every client that watches.",
		"upbound/provider-terraform#89 and longhorn/longhorn#13831: each error has a new identifier, so each try writes the status, and no pause holds",
		"controller/foo/status.go: a message that differs only in words with digits stays the same",
	}
	Claimed = &Lesson{
		"Clients that wait for Ready continue, although the wrong version runs.",
		"",
		"controller/foo/status.go: Ready is True only if the Deployment is complete, by the formula of its controller",
	}
	Waiting = &Lesson{
		"A program that waits without a timeout does nothing and looks healthy, so it is not restarted.",
		"kubernetes/kubernetes#140890 and derailed/k9s#4186: the bookmark that ends a streaming list never comes, and the list is repeated without end",
		"informer/informer.go: WaitForSync has a timeout, and the program ends with an error",
	}
	Heavy = &Lesson{
		"A program that outgrows its limit is killed, and starts with the same lists again.",
		"kubernetes-sigs/controller-runtime#1491: a manager that outgrows its memory limit in a larger cluster",
		"informer/informer.go: managedFields are dropped before an object is stored",
	}
	Deadlocked = &Lesson{
		"Neither Foo gets its Deployment until a user gives one of them a third name.",
		"",
		"not by byhand: controller/foo/doc.go, Limitations",
	}
	Overtaken = &Lesson{
		"Between a look at the Foo and the deletion that follows from it, the Foo can change. Its Pods restart.",
		"",
		"not by byhand: a DELETE has the version of the Deployment as its precondition, not the version of the Foo; controller/foo/doc.go, Limitations",
	}
	Delayed = &Lesson{
		"One user's mistake delays every other user's work.",
		"jaegertracing/jaeger-operator#678: one instance with a mistake in it keeps all others waiting, until a timeout of 5 minutes",
		"controller/retries.go: failing keys use at most half of the workers",
	}
)

// Given returns a more specific lesson if the finding's text or the requests before it, including watches,
// allow one.
func (l *Lesson) Given(text string, requests []Request) *Lesson {
	switch {
	case strings.Contains(text, "DeletedFinalStateUnknown"):
		return tombstone
	case l == Exits && strings.Contains(text, "panic: "):
		return panics
	}
	writes := slices.DeleteFunc(slices.Clone(requests), func(r Request) bool { return r.Method == http.MethodGet })
	if len(writes) == 0 {
		if l == Absent || l == wrongSpec {
			return Untouched
		}
		return l
	}
	last := writes[len(writes)-1]
	switch failed := last.Code == 0 || last.Code >= http.StatusBadRequest; {
	case l == Noisy && last.Target.Subresource != "status":
		return noisyObject
	case l == wrongStatus && !slices.ContainsFunc(requests, func(r Request) bool { return r.Target.Resource == "deployments" && r.Method == http.MethodGet }):
		return unread
	case l != Absent && l != wrongSpec && l != Different || !failed:
		return l
	case tries(writes, last) < 3:
		return gaveUp
	case last.Code == http.StatusConflict && last.Method == http.MethodPost:
		return createsAgain
	case last.Code == http.StatusUnprocessableEntity && last.Target.Resource == "deployments":
		return invalid
	}
	return rejected
}

// tries counts how often a write was tried.
func tries(writes []Request, write Request) (n int) {
	for _, r := range writes {
		if r.Method == write.Method && r.Target == write.Target {
			n++
		}
	}
	return n
}
