package court

import (
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/tests/oracle"
	"example.com/byhand/kit/testkit"
)

// A scenario is one situation, or one fault, that the program is put through.
type scenario struct {
	name string
	// what happens, in one sentence.
	what string
	// judged are the properties that it can violate here; the others are not looked at.
	judged properties
	// quick: it is part of -quick.
	quick bool
	// bare: it runs where the judge plays the controller of Deployments, without a
	// garbage collector. unplayed: and where no Deployment ever gets a Pod.
	bare, unplayed bool
	// calibrates: it sets the bound of the others, and runs before them.
	calibrates bool
	// caveat: it plays a limitation in controller/foo/doc.go. It runs only with -caveats, or when it
	// is named.
	caveat bool
	// alone: no other runs beside it, for it stops the API server, changes it for all, or
	// measures what other work would delay.
	alone bool
	// real: the API server in memory cannot play it.
	real bool
	// perWrite, if it is not Pass, happens to the n-th write, for each n, in a run of its own.
	perWrite testkit.Fault
	steps    []step
}

// scenarios are told in this order.
var scenarios = []scenario{
	// Situations: no request of the program fails.
	{name: "create", what: "Two Foos are created.",
		judged: P1 | P2 | P3 | P5, quick: true, calibrates: true,
		steps: []step{createFoo("a", "a", 1), createFoo("b", "b-deployment", 2), converged}},
	{name: "scale", what: "A Foo asks for 3 replicas in place of 1, then for 2.",
		judged: P1 | P2 | P3 | P5, quick: true,
		steps: []step{createFoo("a", "a", 1), converged, changeFoo("a", object{"replicas": 3}), converged, changeFoo("a", object{"replicas": 2}), converged}},
	{name: "scaled-by-hand", what: "A person scales the Deployment.",
		judged: P1 | P2 | P3 | P5, quick: true,
		steps: []step{createFoo("a", "a", 1), converged, patchDeployment("a", object{"spec": object{"replicas": 4}}), converged}},
	{name: "image-changed", what: "A person changes the image in the Deployment.",
		judged: P1 | P2 | P3 | P5, quick: true,
		steps: []step{createFoo("a", "a", 1), converged, changeImage("a"), converged}},
	{name: "deployment-deleted", what: "A person deletes the Deployment.",
		judged: P1 | P2 | P3 | P5, quick: true,
		steps: []step{createFoo("a", "a", 1), converged, deleteDeployment("a"), converged}},
	{name: "rename", what: "A Foo names another Deployment: the old one must go, and only after the new one exists.",
		judged: P1 | P2 | P3 | P4 | P5, quick: true,
		steps: []step{createFoo("a", "a", 1), converged, changeFoo("a", object{"deploymentName": "b"}), converged}},
	{name: "name-taken", what: "A Foo names a Deployment that has no controller, and one that another kind controls: neither is ever written.",
		judged: P1 | P2 | P5, quick: true,
		steps: []step{foreignDeployment("unowned", false), foreignDeployment("theirs", true), createFoo("a", "unowned", 1), createFoo("b", "theirs", 1),
			createFoo("good", "good", 1), converged, wait(3 * time.Second), converged}},
	{name: "name-freed", what: "The Deployment that had the name is deleted: the Foo gets its own.",
		judged: P1 | P2 | P3 | P5,
		steps:  []step{foreignDeployment("a", false), createFoo("a", "a", 1), wait(3 * time.Second), converged, deleteDeployment("a"), converged}},
	{name: "two-foos-one-name", what: "Two Foos name one Deployment: the first has it, the second waits, and gets it when the first is deleted.",
		judged: P1 | P2 | P3 | P4 | P5, quick: true,
		steps: []step{createFoo("a", "shared", 1), converged, createFoo("b", "shared", 3), wait(3 * time.Second), converged, silent,
			deleteFoo("a", metav1.DeletePropagationBackground), converged}},
	{name: "deleted-background", what: "A Foo is deleted: its Deployment goes.",
		judged: P1 | P2 | P4 | P5, quick: true,
		steps: []step{createFoo("a", "a", 1), createFoo("b", "b", 1), converged, deleteFoo("a", metav1.DeletePropagationBackground), converged}},
	{name: "deleted-foreground", what: "A Foo is deleted after its Deployment, and a finalizer holds it meanwhile: no new Deployment is made for it.",
		judged: P1 | P2 | P4 | P5, quick: true,
		steps: []step{makeFoo("a", object{"deploymentName": "a", "replicas": int64(1)}, "example.com/held"), converged,
			deleteFoo("a", metav1.DeletePropagationForeground), staysAlone("a"), patchFoo("a", object{"metadata": object{"finalizers": nil}}), converged}},
	{name: "deleted-orphan", what: "Three Foos are deleted and their Deployments are to stay. 3 s later these have no owner any more: the program never touches them.",
		judged: P2 | P5, bare: true,
		steps: []step{createFoo("a", "a", 1), createFoo("b", "b", 1), createFoo("c", "c", 1), converged, deleteFoo("a", metav1.DeletePropagationOrphan),
			deleteFoo("b", metav1.DeletePropagationOrphan), deleteFoo("c", metav1.DeletePropagationOrphan), freed("a", "b", "c")}},
	{name: "namespace-deleted", what: "The namespace is deleted, with two Foos in it.",
		judged: P4 | P7, real: true,
		steps: []step{createFoo("a", "a", 1), createFoo("b", "b", 1), converged, deleteNamespace}},
	{name: "events-missed", what: "The watches are cut, and nothing can be read, while Foos are scaled, deleted and created again; the old watches cannot be resumed (410 Gone).",
		judged: P1 | P2 | P3 | P4 | P5,
		steps: []step{createFoo("a", "a", 1), createFoo("b", "b", 1), createFoo("c", "c", 1), converged,
			disturbed(8*time.Second, unreadable, cut, changeFoo("a", object{"replicas": 3}), deleteDeployment("a"),
				deleteFoo("b", metav1.DeletePropagationBackground), createFooAgain("b", "b", 2), deleteFoo("c", metav1.DeletePropagationBackground)),
			gone, converged}},
	{name: "replicasets-refused", what: "A quota admits no ReplicaSet, so that a Deployment makes no progress: the status is true, and the program leaves it as it is.",
		judged: P1 | P2 | P3 | P5,
		steps: []step{noReplicaSets(createFoo("a", "a", 1), until("a", "stuck", isStuck), silent, claimsNothing("a"), idle(5*time.Second)),
			patchDeployment("a", note(1)), converged}},
	{name: "paused-template", what: "While the program is down, a person gives the Deployment another image, and pauses it when that runs: no Pod gets the right image before the pause ends, and the status does not say Ready.",
		judged: P1 | P2 | P3 | P5,
		steps: []step{createFoo("a", "a", 1), converged,
			whileDown(changeImage("a"), until("a", "complete", oracle.Complete), patchDeployment("a", object{"spec": object{"paused": true}})),
			converged, silent, claimsNothing("a"), patchDeployment("a", object{"spec": object{"paused": false}}), converged}},
	{name: "restart", what: "The program is ended and started again, and nothing has changed: it writes nothing.",
		judged: P1 | P2 | P3 | P5, quick: true,
		steps: []step{createFoo("a", "a", 1), createFoo("b", "b", 2), converged, silent, restarted}},
	{name: "idle", what: "Nothing happens for 65 s: the program writes nothing.",
		judged: P1 | P2 | P5,
		steps:  []step{createFoo("a", "a", 1), createFoo("b", "b", 2), converged, silent, idle(65 * time.Second)}},

	// Faults, on a control plane without the controllers of Kubernetes. Those that keep a
	// program from starting begin when it works: to end at the start is no violation.
	{name: faultFree, what: "The script that the faults disturb, without one: a Foo is created, then scaled and renamed.",
		judged: P1 | P2 | P3 | P4 | P5, quick: true, bare: true, calibrates: true,
		steps: []step{createAndChange, remember}},
	{name: "killed-before-write", what: "SIGKILL in place of the n-th write, for each n; then it is started again.",
		judged: P1 | P3 | P4 | P5 | P6, bare: true, perWrite: testkit.KillBefore},
	{name: "killed-after-write", what: "SIGKILL after the n-th write, before its answer, for each n; then it is started again.",
		judged: P1 | P3 | P4 | P5 | P6, quick: true, bare: true, perWrite: testkit.KillAfter},
	{name: "answer-lost", what: "The n-th write takes effect and its answer is lost, for each n.",
		judged: P1 | P3 | P4 | P5 | P6, quick: true, bare: true, perWrite: testkit.LoseAnswer},
	{name: "own-writes-unseen", what: "A Foo is created, another one scaled and renamed, and the watch of Deployments is held back for 8 s: the program does not see its own writes.",
		judged: P1 | P3 | P4 | P5, quick: true, bare: true,
		steps: []step{createFoo("a", "a", 1), converged, held(8*time.Second, "deployments", createFoo("b", "b", 1), scaleAndRename), converged}},
	{name: "stale-start", what: "A Foo was scaled and named another Deployment. The program starts, and its first list of Foos is older than that: the API server lags, and refuses streaming lists (as one of 1.27 to 1.31, one of 1.33 with its defaults, or one with the gate WatchList off). With streaming lists no informer of client-go 0.35 or later starts with an old list.",
		judged: P1 | P3 | P4 | P5 | P6, quick: true, bare: true,
		steps: []step{createFoo("a", "a", 1), converged, staleStart(6*time.Second, false, scaleAndRename, converged, wait(2*onTheWay)), converged, sameEnd}},
	{name: "stale-start-streaming", what: "The same on an API server that has streaming lists: one of those is the newest. Only a program that asks for a plain list from a cache (resourceVersion=0) gets the old one.",
		judged: P1 | P3 | P4 | P5 | P6, bare: true,
		steps: []step{createFoo("a", "a", 1), converged, staleStart(6*time.Second, true, scaleAndRename, converged, wait(2*onTheWay)), converged, sameEnd}},
	{name: "no-bookmark", what: "The program starts behind a proxy that loses BOOKMARK events, so that no streaming list is complete: within 150 s it works all the same, or ends. Without the proxy it works.",
		judged: P1 | P3 | P4 | P5, bare: true,
		steps: []step{createFoo("a", "a", 1), converged, withoutBookmark(150 * time.Second), whileDown(), converged}},
	{name: "silent-network", what: "For 15 s the watches say nothing and requests hang, while a Foo is changed.",
		judged: P1 | P3 | P4 | P5 | P6 | P7, bare: true,
		steps: []step{createFoo("a", "a", 1), converged,
			held(0, "foos", held(0, "deployments", disturbed(15*time.Second, hanging(15*time.Second), scaleAndRename))), converged, sameEnd}},
	{name: "conflicts", what: "For 10 s another client writes each Foo and each Deployment again and again.",
		judged: P1 | P2 | P3 | P4 | P5 | P6, bare: true,
		steps: []step{contended(10*time.Second, createFoo("a", "a", 1), wait(5*time.Second), scaleAndRename), converged, sameEnd}},
	// client-go's Reflector doubles its pauses. After 12 s a fifth one could begin, up to 26 s: longer
	// than P1 waits.
	{name: "overloaded", what: "For 10 s half of the requests of each method get 500, 503 or 429; at the beginning the watches are cut.",
		judged: P1 | P3 | P4 | P5 | P6 | P7, quick: true, bare: true,
		steps: []step{createFoo("a", "a", 1), converged, few(100, disturbed(10*time.Second, overloaded, cut, scaleAndRename)), converged, sameEnd}},
	{name: "rights-taken", what: "For 15 s the program may not write Deployments (403), then it may.",
		judged: P1 | P3 | P5 | P7, quick: true, bare: true,
		steps: []step{few(40, disturbed(15*time.Second, refusing(http.StatusForbidden), createFoo("a", "a", 1))), converged}},
	{name: "policy", what: "For 15 s a policy refuses each write of a Deployment (422), then it does not.",
		judged: P1 | P3 | P4 | P5 | P6 | P7, bare: true,
		steps: []step{createFoo("a", "a", 1), converged,
			few(40, disturbed(15*time.Second, refusing(http.StatusUnprocessableEntity), scaleAndRename)), converged, sameEnd}},
	{name: "webhook-down", what: "A webhook does not answer (500), so that no Deployment can be written, and a person scales one: the status tells what runs all the time. The webhook answers again when the status tells, after 15 s at the earliest and a minute at the latest.",
		judged: P1 | P3 | P5 | P7, bare: true,
		steps: []step{createFoo("a", "a", 1), converged,
			few(40, disturbed(15*time.Second, refusing(http.StatusInternalServerError),
				patchDeployment("a", object{"spec": object{"replicas": 4}}), tells("a", 4))), converged}},
	{name: "webhook-changes", what: "A policy gives each Deployment that is updated 1 replica, and an annotation that is another one each time, so that no write is without an event. The Foo asks for 3. The program does not write without end, and the status tells what runs; the policy goes 15 s after that, or after a minute.",
		judged: P1 | P3 | P5 | P7, bare: true,
		steps: []step{createFoo("a", "a", 3), converged, changedBack("a", fewTries(false, 15, endless, tells("a", 1), wait(15*time.Second))), converged}},
	{name: "set-back", what: "Another controller gives the Deployment 1 replica, whenever it has others, and the Foo asks for 3. The program does not write without end, and the status tells what runs; the other controller goes 15 s after that, or after a minute.",
		judged: P1 | P3 | P5 | P7, bare: true,
		steps: []step{createFoo("a", "a", 3), converged, opposed("a", fewTries(false, 15, endless, tells("a", 1), wait(15*time.Second))), converged}},
	{name: "owner-stripped", what: "A policy takes each new Deployment its owner references, while a Foo names another one: the old one stays. A person deletes the new one, without the policy.",
		judged: P1 | P4, bare: true,
		steps: []step{createFoo("a", "a", 1), converged, ownerStripped(changeFoo("a", object{"deploymentName": "b"}), until("b", "there", func(*appsv1.Deployment) bool { return true }), wait(5*time.Second)),
			deleteDeployment("b"), converged}},
	{name: "denied-with-ids", what: "For 15 s a webhook denies each write of a Deployment, each time with another identifier: the program does not write each into the status.",
		judged: P1 | P3 | P5 | P7, bare: true,
		steps: []step{createFoo("a", "a", 1), converged,
			fewTries(true, 5, repeated, few(40, disturbed(15*time.Second, refusing(denied), changeFoo("a", object{"replicas": 3})))), converged}},
	{name: "quota", what: "A quota is full, so that for 10 s no Deployment can be created. A Foo names another one, a second Foo is new: the old Deployment stays.",
		judged: P1 | P3 | P4 | P5 | P7, bare: true,
		steps: []step{createFoo("a", "a", 1), converged, oneDeployment(few(80, scaleAndRename, createFoo("b", "b", 1), wait(10*time.Second))), converged}},
	{name: "pods-refused", what: "A Foo asks for 3 replicas, and the Deployment gets 2 Pods (ReplicaFailure): the status tells 2, and the program writes nothing until there are 3.",
		judged: P1 | P2 | P3 | P5, quick: true, bare: true,
		steps: []step{createFoo("a", "a", 1), converged, podsAtMost(2, changeFoo("a", object{"replicas": 3}), tells("a", 2), silent, idle(5*time.Second)), converged}},
	{name: "apiserver-killed", what: "The API server is killed and started again on the same data.",
		judged: P1 | P2 | P3 | P4 | P5 | P6 | P7, bare: true, alone: true, real: true,
		steps: []step{createFoo("a", "a", 1), converged, apiServerKilled, scaleAndRename, converged, sameEnd}},
	{name: "apiserver-frozen", what: "The API server is frozen for 12 s.",
		judged: P1 | P2 | P3 | P4 | P5 | P6 | P7, bare: true, alone: true, real: true,
		steps: []step{createFoo("a", "a", 1), converged, apiServerFrozen(12 * time.Second), scaleAndRename, converged, sameEnd}},
	{name: "two-at-a-time", what: "A second process of the same command runs beside the first, which is then killed.",
		judged: P1 | P3 | P4 | P5 | P6, bare: true,
		steps: []step{second, createFoo("a", "a", 1), converged, killFirst, scaleAndRename, converged, sameEnd}},

	// The limitations in controller/foo/doc.go that can be played from outside.
	{name: "swapped-names", what: "Two Foos swap the names of their Deployments, in one moment: each gets the one that it asks for.",
		judged: P1 | P3 | P4 | P5, bare: true, caveat: true,
		steps: []step{createFoo("a", "a", 1), createFoo("b", "b", 2), converged,
			changeFoo("a", object{"deploymentName": "b"}), changeFoo("b", object{"deploymentName": "a"}), served("a", "b"), converged}},
	{name: "renamed-back", what: "A Foo names another Deployment, and the first one again just before the program's DELETE of that one reaches the API server: it is not deleted.",
		judged: P1 | P3 | P4 | P5, bare: true, caveat: true,
		steps: []step{createFoo("a", "a", 1), converged, renamedBack("a", "b"), converged}},

	// Many Foos, and bad ones.
	{name: "thousand", what: "1,000 Foos are created at once.",
		judged: P1 | P3 | P5 | P7, bare: true, alone: true, unplayed: true, real: true,
		steps: []step{many(1000), func(s *stage) { s.converge(5 * time.Minute) }}},
	{name: "crowd", what: "200 Foos ask for a name that is taken: a good Foo beside them does not wait.",
		judged: P1 | P5 | P8, bare: true, alone: true, unplayed: true,
		steps: []step{goodAlone, crowd(200), goodBeside, converged}},
	{name: "slow-webhook", what: "A webhook refuses what 100 Foos ask for, and then does not answer for 10 s each time: a good Foo beside them does not wait.",
		judged: P8, bare: true, alone: true, unplayed: true,
		steps: []step{goodAlone, slowWebhook(100, goodBeside)}},
	{name: "hostile-values", what: "The schema is gone: Foos without a spec, with negative numbers, with names that cannot be; a good Foo beside them does not wait, and once they are mended they get what they ask for.",
		judged: P1 | P7 | P8, bare: true, alone: true, unplayed: true,
		steps: []step{goodAlone, withoutSchema(few(300, badValues, goodBeside, wait(10*time.Second)), mended, converged)}},
	{name: "hostile-types", what: "The schema is gone: Foos with a word for a number and a number for a word. The program may stop for them, but not end; once they are mended everything goes on.",
		judged: P1 | P7, bare: true, alone: true, unplayed: true,
		steps: []step{withoutSchema(few(300, badTypes, createFoo("good", "good", 1), wait(10*time.Second)), mended, converged)}},
}

// faultFree is always run before the faults: they are compared with it.
const faultFree = "fault-free"
