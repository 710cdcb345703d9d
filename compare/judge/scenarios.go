package main

// A scenario is one situation, or one fault, that the program is put through.
type scenario struct {
	name string
	// what happens, in one sentence.
	what string
	// judged are the properties that it can violate here; the others are not looked at.
	judged properties
	// quick: it is part of -quick.
	quick bool
}

// scenarios are run in this order.
var scenarios = []scenario{
	// Situations: nothing fails.
	{name: "create", what: "Two Foos are created.",
		judged: P1 | P2 | P3 | P5, quick: true},
	{name: "scale", what: "A Foo asks for 3 replicas in place of 1, then for 2.",
		judged: P1 | P2 | P3 | P5, quick: true},
	{name: "scaled-by-somebody", what: "Somebody scales the Deployment.",
		judged: P1 | P2 | P3 | P5, quick: true},
	{name: "image-changed", what: "Somebody changes the image in the Deployment.",
		judged: P1 | P2 | P3 | P5},
	{name: "deployment-deleted", what: "Somebody deletes the Deployment.",
		judged: P1 | P2 | P3 | P5, quick: true},
	{name: "rename", what: "A Foo names another Deployment: the old one must go, and only after the new one exists.",
		judged: P1 | P2 | P3 | P4 | P5, quick: true},
	{name: "name-taken", what: "A Foo names a Deployment that is nobody's, and one that another kind controls: neither is ever written.",
		judged: P1 | P2 | P5, quick: true},
	{name: "name-freed", what: "The Deployment that had the name is deleted: the Foo gets its own.",
		judged: P1 | P2 | P3 | P5},
	{name: "two-foos-one-name", what: "Two Foos name one Deployment: the first has it, the second waits, and gets it when the first is deleted.",
		judged: P1 | P2 | P3 | P4 | P5},
	{name: "deleted-background", what: "A Foo is deleted: its Deployment goes.",
		judged: P1 | P2 | P4 | P5, quick: true},
	{name: "deleted-foreground", what: "A Foo is deleted after its Deployment, and a finalizer holds it meanwhile: no new Deployment is made for it.",
		judged: P1 | P2 | P4 | P5},
	{name: "deleted-orphan", what: "A Foo is deleted and its Deployment is to stay: nobody touches it afterwards.",
		judged: P2 | P5},
	{name: "namespace-deleted", what: "The namespace is deleted, with two Foos in it.",
		judged: P4 | P7},
	{name: "restart", what: "The program is ended and started again, and nothing has changed: it writes nothing.",
		judged: P1 | P2 | P3 | P5, quick: true},
	{name: "idle", what: "Nothing happens for 65 s: the program writes nothing.",
		judged: P1 | P2 | P5},

	// Faults.
	{name: "killed-before-write", what: "SIGKILL instead of the n-th write, for each n; then it is started again.",
		judged: P1 | P3 | P4 | P5 | P6},
	{name: "killed-after-write", what: "SIGKILL after the n-th write, before its answer, for each n; then it is started again.",
		judged: P1 | P3 | P4 | P5 | P6, quick: true},
	{name: "answer-lost", what: "The n-th write takes effect and its answer is lost, for each n.",
		judged: P1 | P3 | P4 | P5 | P6, quick: true},
	{name: "own-writes-unseen", what: "The watches are held back for 8 s: the program does not see its own writes.",
		judged: P1 | P3 | P4 | P5 | P6},
	{name: "stale-start", what: "A Foo was scaled and named another Deployment. The program starts, and its first list of Foos is older than that.",
		judged: P1 | P3 | P4 | P5},
	{name: "events-missed", what: "The watches are cut, and nothing can be read, while Foos are scaled, deleted and created again; the old watches cannot be resumed (410 Gone).",
		judged: P1 | P2 | P3 | P4 | P5},
	{name: "silent-network", what: "For 15 s the watches say nothing and requests hang.",
		judged: P1 | P3 | P4 | P5 | P6 | P7},
	{name: "conflicts", what: "For 10 s somebody else writes each Foo and each Deployment again and again.",
		judged: P1 | P2 | P3 | P4 | P5},
	{name: "overloaded", what: "For 15 s half of all requests get 429, 500 or 503.",
		judged: P1 | P3 | P4 | P5 | P6 | P7, quick: true},
	{name: "rights-taken", what: "For 15 s the program may not create Deployments (403), then it may.",
		judged: P1 | P3 | P5 | P7, quick: true},
	{name: "apiserver-killed", what: "The API server is killed and started again on the same data.",
		judged: P1 | P2 | P3 | P4 | P5 | P7},
	{name: "apiserver-frozen", what: "The API server is frozen for 12 s.",
		judged: P1 | P2 | P3 | P4 | P5 | P7},
	{name: "two-at-a-time", what: "A second process of the same command runs beside the first, which is then killed.",
		judged: P1 | P3 | P4 | P5},

	// On a control plane without the controllers of Kubernetes: many Foos, and bad ones.
	{name: "thousand", what: "1,000 Foos are created at once.",
		judged: P1 | P3 | P5 | P7},
	{name: "crowd", what: "200 Foos ask for names that are taken: a good Foo beside them does not wait.",
		judged: P1 | P5 | P8},
	{name: "hostile-values", what: "The schema is gone: Foos without a spec, with negative numbers, with names that cannot be; a good Foo beside them does not wait.",
		judged: P1 | P7 | P8},
	{name: "hostile-types", what: "The schema is gone: Foos with a word for a number and a number for a word; a good Foo beside them does not wait.",
		judged: P1 | P7 | P8},
}
