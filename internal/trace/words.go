package trace

// What a step can be. The words are the contract of the JSON form, too.
const (
	// PartStream
	Opened   = "opened"   // a watch was answered and delivers
	Listed   = "listed"   // a list was answered, whole
	Received = "received" // one event of a watch
	Ended    = "ended"    // a watch is over; a reconcile returned without an error
	Refused  = "refused"  // a list or watch got no or another answer than 200

	// PartStore
	Added     = "added" // also in PartQueue: a key that did not wait does
	Updated   = "updated"
	Deleted   = "deleted"
	Resync    = "resync"    // the same version again, at the resync period
	Tombstone = "tombstone" // a deletion that the watch missed

	// PartQueue
	Coalesced = "coalesced" // the key waits already, or comes back when its worker is done
	Delayed   = "delayed"   // to be added later, at the reconcile's own wish
	Limited   = "limited"   // to be added later, after an error
	Due       = "due"       // a delay is over
	Forgot    = "forgot"    // its failures no longer count

	// PartWorker
	Got  = "got"
	Done = "done"

	// PartReconcile
	Started = "started" // also in PartProgram
	Failed  = "failed"  // with an error; also in PartRequest, without an answer

	// PartRequest
	Sent     = "sent"
	Answered = "answered"

	// PartProgram
	Standby = "standby"
	Leader  = "leader"
	Synced  = "synced"
	Lost    = "lost"
	Stopped = "stopped"
	Said    = "said"    // anything else
	Dropped = "dropped" // written in the place of the steps that were lost
)

// place is where the code of a step stands.
type place struct{ file, function string }

// places has a place for each thing that happens, by part and by what it happens
// to. A test looks each one up in the source.
var places = map[string]place{
	"stream Project":            {"informer/project.go", "NewProjects"},
	"stream Foo":                {"informer/foo.go", "NewFoos"},
	"stream Deployment":         {"informer/deployment.go", "NewDeployments"},
	"store Project":             {"informer/project.go", "NewProjects"},
	"store Foo":                 {"controller/handlers.go", "EnqueueObject"},
	"store Deployment":          {"controller/handlers.go", "EnqueueOwner"},
	"queue":                     {"controller/priority.go", "NewPriorityQueue"},
	"queue Foo":                 {"controller/handlers.go", "EnqueueObject"},
	"queue Deployment":          {"controller/handlers.go", "EnqueueOwner"},
	"queue retry":               {"controller/controller.go", "Controller.retry"},
	"queue limited":             {"controller/queue.go", "RateLimiter"},
	"worker":                    {"controller/controller.go", "Controller.processNextItem"},
	"reconcile":                 {"controller/foo.go", "FooReconciler.Reconcile"},
	"reconcile behind":          {"controller/readyourwrites.go", "PendingWrites.Observed"},
	"request GET Foo":           {"controller/takeover.go", "FooReconciler.verifyFoo"},
	"request GET Deployment":    {"controller/takeover.go", "FooReconciler.verifyDeployment"},
	"request GET existing":      {"controller/deployment.go", "FooReconciler.createDeployment"},
	"request POST Deployment":   {"controller/deployment.go", "FooReconciler.createDeployment"},
	"request PUT Deployment":    {"controller/deployment.go", "FooReconciler.updateDeployment"},
	"request DELETE Deployment": {"controller/deployment.go", "FooReconciler.deleteRenamed"},
	"request PUT Foo/status":    {"controller/status.go", "FooReconciler.updateStatus"},
	"request":                   {"internal/connect/connect.go", "Check"},
	"program":                   {"main.go", "run"},
}

// at sets where the code of a step stands.
func (s Step) at(what string) Step {
	where := places[what]
	s.File, s.Func = where.file, where.function
	return s
}
