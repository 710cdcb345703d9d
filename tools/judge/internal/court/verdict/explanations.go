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
		"The desired state is not reached, and no event will enqueue the key again.",
		"sky-uk/cassandra-operator#170: the previous state was only in memory, so changes during a downtime were ignored",
		"controller/foo/reconcile.go: a reconcile compares the desired and the current state, whatever event enqueued the key",
	}
	Untouched = &Lesson{
		"The program has written nothing at all: no event led it to this object, or it found nothing to do.",
		"",
		"controller/handlers.go: handlers enqueue a Foo for each related event; controller/foo/reconcile.go has the reconcile",
	}
	gaveUp = &Lesson{
		"The last write was rejected or got no response, and the program has not retried.",
		"sky-uk/cassandra-operator#53: failed updates are not retried, so the cluster does not reach the desired state",
		"controller/controller.go: a reconcile returns the error, and the key is requeued",
	}
	createsAgain = &Lesson{
		"The program keeps creating an object that exists: it does not find the object in its store. Is the key namespace/name, and is the informer running?",
		"",
		"controller/handlers.go: a key is namespace/name; controller/foo/reconcile.go looks it up in the store",
	}
	invalid = &Lesson{
		"The API server rejects the object each time. The server's message names the invalid field. An object from a store has no kind and no apiVersion: the program must set both in an owner reference.",
		"",
		"controller/foo/deployment.go: newDeployment() sets the kind of the owner",
	}
	rejected = &Lesson{
		"The API server rejects each attempt. The server's message gives the reason.",
		"",
		"controller/queue.go: each failure doubles the delay of its key; config/rbac/role.yaml lists the permissions",
	}
	unread = &Lesson{
		"The program has never listed or watched Deployments, so it cannot know how many replicas are available.",
		"",
		"informer/informer.go: each informer needs Run, and WaitForSync waits for all of them",
	}
	Missed = &Lesson{
		"The program did not act on a change that it had missed. After the next list an informer reports a missed deletion as a DeletedFinalStateUnknown (a tombstone), which a handler must unpack.",
		"sky-uk/cassandra-operator#170: the previous state was only in memory, so changes during a downtime were ignored",
		"controller/handlers.go: the handlers unpack a DeletedFinalStateUnknown; informer/doc.go: Calls of the handler",
	}
	tombstone = &Lesson{
		"A missed deletion arrives as a DeletedFinalStateUnknown (a tombstone). A handler that expects the object panics or ignores it.",
		"",
		"controller/handlers.go: the handlers unpack a DeletedFinalStateUnknown",
	}
	panics = &Lesson{
		"A panic in any goroutine ends the whole program. The frame above is the first in the program's own code.",
		"",
		"controller/controller.go: a panic in a reconcile becomes an error; controller/handlers.go: handlers cannot rely on the type of an object",
	}
	Freed = &Lesson{
		"The user has asked to keep the Deployment. A missing Foo is no reason to delete one: the garbage collector deletes dependents.",
		"",
		"controller/foo/doc.go: Deletion",
	}
	wrongSpec = &Lesson{
		"The cluster does not run the Deployment that the Foo asks for.",
		"sky-uk/cassandra-operator#53: failed updates are not retried, so the cluster does not reach the desired state",
		"controller/foo/deployment.go: differences() compares the Deployment with the spec in each reconcile",
	}
	Drifted = &Lesson{
		"A manual change stays unnoticed until it causes damage.",
		"sky-uk/cassandra-operator#53: manual changes and deletions are never reverted; and Kubernetes' own sample-controller, whose syncHandler compares only the replicas",
		"controller/foo/deployment.go: differences() compares each field that the program sets. Objects in a store are shared, so change a DeepCopy",
	}
	wrongStatus = &Lesson{
		"Users and programs rely on the status. A wrong status is worse than no status.",
		"kubernetes/kubernetes#120732: the status of a StatefulSet counts too few Pods, and a rolling update relies on it",
		"controller/foo/status.go: the whole status is computed from the current state, and set in a DeepCopy: objects in a store are shared",
	}
	Uncontrolled = &Lesson{
		"Without the owner reference, the Deployment has no visible owner, and the garbage collector never deletes it.",
		"datastax/cass-operator#168: children without owner references",
		"controller/foo/deployment.go: newDeployment() sets the controller reference",
	}
	Undone = &Lesson{
		"A cache may be older than the last write. A program that acts on such a cache scales workloads back and forth, or deletes them.",
		"elastic/cloud-on-k8s#4956 and elastic/cloud-on-k8s#5274: after a restart the program reads old data, and scales down a running workload",
		"informer/ready.go: the first list is always current; controller/readyourwrites.go: no reconcile begins before the cache shows the last write",
	}
	Mistaken = &Lesson{
		"The object being deleted had the same name as a live one. A DELETE without the UID as a precondition deletes the live one.",
		"rabbitmq/cluster-operator#648: after a restart the program reads an old version that is being deleted, and deletes the dependents of the new object",
		"controller/foo/rename.go: the UID and the resourceVersion are preconditions of the DELETE",
	}
	Untold = &Lesson{
		"While writes fail, users look at the status, and it is outdated. The program can count the available replicas without writing the Deployment.",
		"kubernetes/kubernetes#108837: a quota rejects a Pod, and the status of the StatefulSet does not count another Pod that became ready",
		"controller/foo/reconcile.go: Reconcile() writes the status even if the Deployment could not be written",
	}
	Gap = &Lesson{
		"If the new object cannot be created, for example because of a quota, nothing runs at all.",
		"apecloud/kubeblocks#5366: the Pods are deleted before a change that the quota rejects",
		"controller/foo/deployment.go: syncDeployment() creates the new Deployment first",
	}
	Noisy = &Lesson{
		"Each write costs the API server and etcd, and wakes every client that watches. An endless loop of writes is an outage.",
		"kubernetes/sample-controller#29 and multigres/multigres-operator#185: each reconcile writes the status, and each write causes the next reconcile",
		"controller/foo/status.go: updateStatus() compares before it writes",
	}
	noisyObject = &Lesson{
		"Each write costs the API server and etcd, and wakes every client that watches. The API server adds defaults: a program that compares the whole object always finds a difference.",
		"prometheus-operator/prometheus-operator#3980: an update is sent although nothing differs",
		"controller/foo/deployment.go: differences() compares only the fields that the program sets, not the API server's defaults",
	}
	Twice = &Lesson{
		"Twice as many Pods cost twice as much, and each set works as if it were the only one.",
		"kubernetes-sigs/kubebuilder#1381: the cache does not show a new child yet, and the program creates a second",
		"controller/readyourwrites.go: no reconcile begins before the cache shows the last write, and each name follows from the spec",
	}
	LeftOver = &Lesson{
		"The old object stays, because its owner still exists. No user looks for it.",
		"kubernetes/sample-controller#75: changing deploymentName creates a new Deployment and leaves the old one",
		"controller/foo/rename.go deletes the Deployment with the earlier name",
	}
	Orphaned = &Lesson{
		"Leftovers cost money, serve old versions, and block their names.",
		"zalando/postgres-operator#2678: an object is deleted while the program is down, and its dependents stay",
		"controller/foo/deployment.go: the request that creates the Deployment contains the owner reference",
	}
	ForTheDying = &Lesson{
		"The garbage collector has to delete the new object, too, and it can block the owner's deletion again.",
		"kubernetes/kubernetes#64313: a DaemonSet is deleted in the foreground, its controller keeps managing it, and the deletion never ends",
		"controller/foo/reconcile.go: Reconcile() does nothing for a Foo with a deletionTimestamp",
	}
	Foreign = &Lesson{
		"The program damages another owner's object, and the cause is hard to find.",
		"ai-dynamo/dynamo#13474: an operator can update and delete objects that have the right name but belong to another controller",
		"controller/foo/blocked.go: checkHolder() compares the UID of the owner before each write",
	}
	Different = &Lesson{
		"The fault has a permanent effect that no later reconcile corrects.",
		"Azure/azure-service-operator#5633: after a crash between a creation and its record, the new object is never deleted",
		"README.md: a reconcile is level-triggered: it reaches the same state, whatever it missed",
	}
	Late = &Lesson{
		"There was no fault: the program just started later, and got a different result from the same objects. If the field may depend on earlier events, allow it.",
		"sky-uk/cassandra-operator#170: the previous state was only in memory, so changes during a downtime were ignored",
		"controller/foo/status.go: the whole status is computed from the current state",
	}
	Exits = &Lesson{
		"A program that exits because of a temporary fault needs a supervisor to restart it, and each start lists everything.",
		"kedacore/keda#4646: the program restarts again and again while the API server is down",
		"informer/informer.go: a failed watch is retried, and the program continues",
	}
	Stays = &Lesson{
		"A program that ignores SIGTERM is killed in the middle of a write, and its successor waits until the Lease expires.",
		"",
		"controller/controller.go: Run() returns when its context is done and each worker has finished",
	}
	Restless = &Lesson{
		"Neither the program nor the API server has capacity for anything else.",
		"kubernetes/kubernetes#27634 and kubernetes/kubernetes#30629: controllers retry rejected requests without a pause",
		"controller/queue.go: each failure doubles the pause of its key",
	}
	Flood = &Lesson{
		"An API server in trouble gets even more requests, from each copy of the program.",
		"kubernetes/kubernetes#27634 and kubernetes/kubernetes#30629: controllers retry rejected requests without a pause",
		"controller/queue.go: each failure doubles the pause of its key",
	}
	Endless = &Lesson{
		"Each write that is undone causes an event, and the event causes the next write. The queue backs off after failures, not after events.",
		"kubernetes/kubernetes#57167: the API server changes a ReplicaSet, and the Deployment controller creates a new one, again and again",
		"controller/rewrites.go returns an error for a repeated write, so the key backs off; controller/queue.go: events do not end a back-off",
	}
	Repeated = &Lesson{
		"If each error message has a new ID, each attempt writes the status, and each write wakes every client that watches.",
		"upbound/provider-terraform#89 and longhorn/longhorn#13831: each error has a new ID, so each attempt writes the status, and the back-off has no effect",
		"controller/foo/status.go: a message is not written again if only words with digits differ",
	}
	Claimed = &Lesson{
		"Clients that wait for Ready continue, although the wrong version runs.",
		"",
		"controller/foo/status.go: Ready is True only if the Deployment is complete by the Deployment controller's formula",
	}
	Waiting = &Lesson{
		"A program that waits without a timeout does nothing and looks healthy, so it is not restarted.",
		"kubernetes/kubernetes#140890 and derailed/k9s#4186: the bookmark that ends a streaming list never arrives, and the list is repeated forever",
		"informer/informer.go: WaitForSync() has a timeout, after which the program exits with an error",
	}
	Heavy = &Lesson{
		"A program that exceeds its memory limit is killed, and starts with the same lists again.",
		"kubernetes-sigs/controller-runtime#1491: a manager exceeds its memory limit in a larger cluster",
		"informer/informer.go: managedFields are dropped before an object is stored",
	}
	Deadlocked = &Lesson{
		"Neither Foo gets its Deployment until a user gives one of them a third name.",
		"",
		"byhand has the same limitation: see controller/foo/doc.go, Limitations",
	}
	Overtaken = &Lesson{
		"The Foo can change between the program's read and its DELETE. Then the Pods restart.",
		"",
		"byhand has the same limitation: its DELETE has the Deployment's resourceVersion as a precondition, not the Foo's. See controller/foo/doc.go, Limitations",
	}
	Delayed = &Lesson{
		"One user's mistake delays every other user's work.",
		"jaegertracing/jaeger-operator#678: one instance with a mistake delays all others, up to a timeout of 5 minutes",
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

func tries(writes []Request, write Request) (n int) {
	for _, r := range writes {
		if r.Method == write.Method && r.Target == write.Target {
			n++
		}
	}
	return n
}
