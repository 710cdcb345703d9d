// Package bugs lists what can be wrong with a Foo controller, one flag of the program
// reference for each, and which scenarios of the judge must catch it.
package bugs

// Name is a flag of the program reference.
type Name string

// What the program does to Deployments.
const (
	NoGuard         Name = "no-guard"
	AdoptsByName    Name = "adopts-by-name"
	NoOwner         Name = "no-owner"
	NoRename        Name = "no-rename"
	DeletesFirst    Name = "deletes-first"
	RemembersNames  Name = "remembers-names"
	DeletesItself   Name = "deletes-itself"
	IgnoresDeletion Name = "ignores-deletion"
	IgnoresImage    Name = "ignores-image"
	IgnoresReplicas Name = "ignores-replicas"
	GeneratesNames  Name = "generates-names"
	TrustsCache     Name = "trusts-cache"
	MakesRoom       Name = "makes-room"
	ReplacesFailing Name = "replaces-failing"
	ReplacesStuck   Name = "replaces-stuck"
	TrustsCreate    Name = "trusts-create"
)

// What it tells, and when it writes.
const (
	TellsAnothers   Name = "tells-anothers"
	StatusEveryTime Name = "status-every-time"
	PollWrites      Name = "poll-writes"
	StatusLast      Name = "status-last"
	Insists         Name = "insists"
	Fights          Name = "fights"
	TellsEachTry    Name = "tells-each-try"
	ClaimsReady     Name = "claims-ready"
)

// What it hears.
const (
	DeafToDeletion Name = "deaf-to-deletion"
	DeafToNames    Name = "deaf-to-names"
	NoRelist       Name = "no-relist"
	WaitsForever   Name = "waits-forever"
)

// What it does when something fails.
const (
	CrashesOnNil   Name = "crashes-on-nil"
	AssertsTypes   Name = "asserts-types"
	NoRetry        Name = "no-retry"
	InvalidIsFinal Name = "invalid-is-final"
	NoBackoff      Name = "no-backoff"
	HeadOfLine     Name = "head-of-line"
	ExitsOn5xx     Name = "exits-on-5xx"
	DefaultQPS     Name = "default-qps"
	AllRetry       Name = "all-retry"
)

// Bug is one of them.
type Bug struct {
	Name Name
	// Does is what the program does then, in one sentence.
	Does string
	// CaughtBy are the scenarios of the judge that must catch it.
	CaughtBy []string
	// Wide: other scenarios may catch it, too. A bug that is not wide passes all others.
	Wide bool
}

// All are all bugs.
var All = []Bug{
	{Name: NoGuard, CaughtBy: []string{"name-taken", "name-freed", "two-foos-one-name", "crowd"},
		Does: "writes a Deployment of the right name, also one that another object controls"},
	{Name: AdoptsByName, CaughtBy: []string{"name-taken", "name-freed", "crowd"},
		Does: "makes a Deployment that has no controller its own, because it has the right name"},
	{Name: NoOwner, CaughtBy: []string{"deleted-background"}, Wide: true,
		Does: "creates the Deployment without an owner reference, so that the garbage collector does not delete it after the Foo"},
	{Name: NoRename, CaughtBy: []string{"rename", "fault-free"},
		Does: "leaves the Deployment of the earlier name behind"},
	{Name: DeletesFirst, CaughtBy: []string{"rename", "fault-free"}, Wide: true,
		Does: "deletes the Deployment of the earlier name before there is a new one"},
	{Name: RemembersNames, CaughtBy: []string{"killed-before-write", "killed-after-write"}, Wide: true,
		Does: "knows earlier names only from memory, which is empty after a start"},
	{Name: DeletesItself, CaughtBy: []string{"deleted-orphan"},
		Does: "deletes the Deployment of a Foo that is being deleted, also if it is to stay"},
	{Name: IgnoresDeletion, CaughtBy: []string{"deleted-foreground"},
		Does: "creates a new Deployment for a Foo that is being deleted"},
	{Name: IgnoresImage, CaughtBy: []string{"image-changed"},
		Does: "compares the replicas only"},
	{Name: IgnoresReplicas, CaughtBy: []string{"scale", "scaled-by-hand"}, Wide: true,
		Does: "does not compare the replicas"},
	{Name: GeneratesNames, CaughtBy: []string{"answer-lost"},
		Does: "tries again under a generated name when it hears no answer, and has two Deployments if the first try was heard"},
	{Name: TrustsCache, CaughtBy: []string{"stale-start", "stale-start-streaming"},
		Does: "writes what an old cache asks for, without a look at the live Foo"},
	{Name: MakesRoom, CaughtBy: []string{"quota"},
		Does: "deletes the Deployment of the earlier name when the new one is refused (403)"},
	{Name: ReplacesFailing, CaughtBy: []string{"pods-refused"},
		Does: "deletes a Deployment whose Pods are refused, and makes it again"},
	{Name: ReplacesStuck, CaughtBy: []string{"replicasets-refused"},
		Does: "deletes a Deployment that makes no progress, and makes it again"},
	{Name: TrustsCreate, CaughtBy: []string{"owner-stripped"},
		Does: "deletes the Deployment of the earlier name once a new one is created, without a look at what the API server has stored"},

	{Name: TellsAnothers, CaughtBy: []string{"name-taken", "name-freed", "two-foos-one-name"},
		Does: "tells the replicas of a Deployment of the right name, also of one that another object controls"},
	{Name: StatusEveryTime, CaughtBy: []string{"restart"},
		Does: "writes the status in every reconcile, also if it is the same"},
	{Name: PollWrites, CaughtBy: []string{"create", "idle"}, Wide: true,
		Does: "writes the Deployment every second, also if it is the same"},
	{Name: StatusLast, CaughtBy: []string{"webhook-down"},
		Does: "tells nothing as long as its writes of the Deployment are refused"},
	{Name: Insists, CaughtBy: []string{"webhook-changes", "set-back"},
		Does: "writes at once again what was changed, on the way to the store or there"},
	{Name: Fights, CaughtBy: []string{"set-back"},
		Does: "writes at once again what another controller has changed"},
	{Name: TellsEachTry, CaughtBy: []string{"denied-with-ids"},
		Does: "writes each refusal into a condition, word for word"},
	{Name: ClaimsReady, CaughtBy: []string{"paused-template"},
		Does: "writes the condition Ready=True when the replicas are available, of whichever template"},

	{Name: DeafToDeletion, CaughtBy: []string{"deployment-deleted", "name-freed", "two-foos-one-name"}, Wide: true,
		Does: "does not hear that a Deployment is deleted"},
	{Name: DeafToNames, CaughtBy: []string{"name-freed", "two-foos-one-name"},
		Does: "does not hear that a name which a Foo waits for is free: no owner reference leads to that Foo"},
	{Name: NoRelist, CaughtBy: []string{"events-missed"}, Wide: true,
		Does: "watches on from now after a 410 Gone, without a new list"},
	{Name: WaitsForever, CaughtBy: []string{"no-bookmark"},
		Does: "waits without end for a streaming list"},

	{Name: CrashesOnNil, CaughtBy: []string{"hostile-values", "hostile-types"},
		Does: "takes it for granted that spec.replicas is there"},
	{Name: AssertsTypes, CaughtBy: []string{"hostile-types"},
		Does: "takes it for granted that spec.deploymentName is a string"},
	{Name: NoRetry, CaughtBy: []string{"rights-taken"}, Wide: true,
		Does: "does not try again what has failed"},
	{Name: InvalidIsFinal, CaughtBy: []string{"policy"},
		Does: "does not try again what is refused as invalid (422), though the policy that refused it may go"},
	{Name: NoBackoff, CaughtBy: []string{"rights-taken", "hostile-values"}, Wide: true,
		Does: "tries again at once what has failed"},
	{Name: HeadOfLine, CaughtBy: []string{"crowd", "hostile-values", "slow-webhook"},
		Does: "tries a Foo that cannot be served again and again before it takes the next one"},
	{Name: ExitsOn5xx, CaughtBy: []string{"overloaded", "webhook-down"},
		Does: "exits when the API server answers 500 or 503"},
	{Name: DefaultQPS, CaughtBy: []string{"thousand", "crowd"}, Wide: true,
		Does: "sends five requests a second, which is client-go's default"},
	{Name: AllRetry, CaughtBy: []string{"slow-webhook"},
		Does: "lets all workers retry at the same time"},
}
