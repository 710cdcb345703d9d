// Package bugs lists what can be wrong with a Foo controller, one flag of the program
// reference for each, and which scenarios of the judge must catch it.
package bugs

// Bug is one of them.
type Bug struct {
	// Name is a flag of the program reference.
	Name string
	// Does is what the program does then, in one sentence.
	Does string
	// CaughtBy are the scenarios of the judge that must catch it.
	CaughtBy []string
	// Wide: other scenarios may catch it, too. A bug that is not wide passes all others.
	Wide bool
	// On is the value of the flag.
	On bool
}

// All are all bugs.
var All []*Bug

// narrow adds a bug, and wide one that is wide.
func narrow(name, does string, caughtBy ...string) *Bug {
	All = append(All, &Bug{Name: name, Does: does, CaughtBy: caughtBy})
	return All[len(All)-1]
}

func wide(name, does string, caughtBy ...string) *Bug {
	bug := narrow(name, does, caughtBy...)
	bug.Wide = true
	return bug
}

// What the program does to Deployments.
var (
	NoGuard = narrow("no-guard", "writes a Deployment of the right name, also one that another object controls",
		"name-taken", "name-freed", "two-foos-one-name", "crowd")
	AdoptsByName = narrow("adopts-by-name", "makes a Deployment that has no controller its own, because it has the right name",
		"name-taken", "name-freed", "crowd")
	NoOwner = wide("no-owner", "creates the Deployment without an owner reference, so that the garbage collector does not delete it after the Foo",
		"deleted-background")
	NoRename = narrow("no-rename", "leaves the Deployment of the earlier name behind",
		"rename", "fault-free")
	DeletesFirst = wide("deletes-first", "deletes the Deployment of the earlier name before there is a new one",
		"rename", "fault-free")
	RemembersNames = wide("remembers-names", "knows earlier names only from memory, which is empty after a start",
		"killed-before-write", "killed-after-write")
	DeletesItself = narrow("deletes-itself", "deletes the Deployment of a Foo that is being deleted, also if it is to stay",
		"deleted-orphan")
	IgnoresDeletion = narrow("ignores-deletion", "creates a new Deployment for a Foo that is being deleted",
		"deleted-foreground")
	IgnoresImage = narrow("ignores-image", "compares the replicas only",
		"image-changed")
	IgnoresReplicas = wide("ignores-replicas", "does not compare the replicas",
		"scale", "scaled-by-hand")
	GeneratesNames = narrow("generates-names", "tries again under a generated name when it hears no answer, and has two Deployments if the first try was heard",
		"answer-lost")
	TrustsCache = narrow("trusts-cache", "writes what an old cache asks for, without a look at the live Foo",
		"stale-start", "stale-start-streaming")
	MakesRoom = narrow("makes-room", "deletes the Deployment of the earlier name when the new one is refused (403)",
		"quota")
	ReplacesFailing = narrow("replaces-failing", "deletes a Deployment whose Pods are refused, and makes it again",
		"pods-refused")
	ReplacesStuck = narrow("replaces-stuck", "deletes a Deployment that makes no progress, and makes it again",
		"replicasets-refused")
	TrustsCreate = narrow("trusts-create", "deletes the Deployment of the earlier name once a new one is created, without a look at what the API server has stored",
		"owner-stripped")
)

// What it tells, and when it writes.
var (
	TellsAnothers = narrow("tells-anothers", "tells the replicas of a Deployment of the right name, also of one that another object controls",
		"name-taken", "name-freed", "two-foos-one-name")
	StatusEveryTime = narrow("status-every-time", "writes the status in every reconcile, also if it is the same",
		"restart")
	PollWrites = wide("poll-writes", "writes the Deployment every second, also if it is the same",
		"create", "idle")
	StatusLast = narrow("status-last", "tells nothing as long as its writes of the Deployment are refused",
		"webhook-down")
	Insists = narrow("insists", "writes at once again what was changed, on the way to the store or there",
		"webhook-changes", "set-back")
	Fights = narrow("fights", "writes at once again what another controller has changed",
		"set-back")
	TellsEachTry = narrow("tells-each-try", "writes each refusal into a condition, word for word",
		"denied-with-ids")
	ClaimsReady = narrow("claims-ready", "writes the condition Ready=True when the replicas are available, of whichever template",
		"paused-template")
)

// What it hears.
var (
	DeafToDeletion = wide("deaf-to-deletion", "does not hear that a Deployment is deleted",
		"deployment-deleted", "name-freed", "two-foos-one-name")
	DeafToNames = narrow("deaf-to-names", "does not hear that a name which a Foo waits for is free: no owner reference leads to that Foo",
		"name-freed", "two-foos-one-name")
	NoRelist = wide("no-relist", "watches on from now after a 410 Gone, without a new list",
		"events-missed")
	WaitsForever = narrow("waits-forever", "waits without end for a streaming list",
		"no-bookmark")
)

// What it does when something fails.
var (
	CrashesOnNil = narrow("crashes-on-nil", "takes it for granted that spec.replicas is there",
		"hostile-values", "hostile-types")
	AssertsTypes = narrow("asserts-types", "takes it for granted that spec.deploymentName is a string",
		"hostile-types")
	NoRetry = wide("no-retry", "does not try again what has failed",
		"rights-taken")
	InvalidIsFinal = narrow("invalid-is-final", "does not try again what is refused as invalid (422), though the policy that refused it may go",
		"policy")
	NoBackoff = wide("no-backoff", "tries again at once what has failed",
		"rights-taken", "hostile-values")
	HeadOfLine = narrow("head-of-line", "tries a Foo that cannot be served again and again before it takes the next one",
		"crowd", "hostile-values", "slow-webhook")
	ExitsOn5xx = narrow("exits-on-5xx", "exits when the API server answers 500 or 503",
		"overloaded", "webhook-down")
	DefaultQPS = wide("default-qps", "sends five requests a second, which is client-go's default",
		"thousand", "crowd")
	AllRetry = narrow("all-retry", "lets all workers retry at the same time",
		"slow-webhook")
)
