package main

// lesson is one idea: what is set up, a question, one act, and what was seen. When it has ended
// is said in tools/playground/web/tour.js.
type lesson struct {
	Title, Say, Setup string
	Question          string
	Answers           []string
	Right             int
	Button, Act       string
	Seen, Keep, Why   string
	Code              string // the file
}

var lessons = []lesson{
	{
		Title:    "It mends",
		Say:      "A Foo asks for a Deployment, which runs copies of a program. A controller sees to it.",
		Setup:    "create example-foo web 2; wait",
		Question: "You delete the Deployment. What happens?", Answers: []string{"It stays away", "It comes back"}, Right: 1,
		Button: "Delete the Deployment", Act: "delete-deployment web",
		Seen: "You deleted it. The controller created it again {took} later.",
		Keep: "A controller compares what is with what is asked for, and mends what differs.",
		Why:  "The watch of Deployments says that it is gone. The handler, which is called for each change, puts the key (the name) of its Foo into the queue. The reconcile finds no Deployment of that name, and creates it. The Foo was there all the time.",
		Code: "controller/handlers.go",
	},
	{
		Title:    "It does not ask what happened",
		Say:      "The controller is down. The Deployment was scaled to 5, then to 9. The Foo asks for 2.",
		Setup:    "create example-foo web 2; wait; stop; scale-deployment web 5; scale-deployment web 9",
		Question: "How many PUTs of the Deployment does it send when it starts?", Answers: []string{"None", "One", "Two"}, Right: 1,
		Button: "Start the controller", Act: "start",
		Seen: "One PUT, from 9 to 2. It has never heard of the 5.",
		Keep: "It compares states, so a lost event does no harm: the next look mends it all.",
		Why:  "The controller is not told what was done, only that something about this key has changed. It compares what is with what is asked for, and sends what differs. So a change that it misses, or two that come as one, do no harm: it is level-triggered. The bug edge-triggered, in the drawer Bugs, is the opposite.",
		Code: "controller/foo/deployment.go",
	},
	{
		Title:    "It reads its memory",
		Say:      "The watch of Deployments is held. You asked for 3, the controller sent 3, its store shows 2.",
		Setup:    "create example-foo web 2; wait; hold on; scale example-foo 3; wait",
		Question: "You scale the Foo to 4. Does it send a PUT?", Answers: []string{"Yes, at once", "No, it waits"}, Right: 1,
		Button: "Scale the Foo", Act: "scale example-foo 4",
		Seen: "It sent nothing. Take off “Hold the watch”, at the top of the page, and it goes on.",
		Keep: "A store is always a little behind. The controller waits until the store shows its last write.",
		Why:  "Reconciles read the store, a copy in memory, and not the server. If that does not show the controller’s own last write, each decision would be made from an old state. So it waits until it does.",
		Code: "controller/readyourwrites.go",
	},
	{
		Title:    "Who deletes what",
		Say:      "The Deployment has an owner reference: in it stands the UID of the Foo.",
		Setup:    "create example-foo web 2; wait",
		Question: "You delete the Foo. Who deletes the Deployment?", Answers: []string{"The controller", "The garbage collector"}, Right: 1,
		Button: "Delete the Foo", Act: "delete example-foo background",
		Seen: "The garbage collector did, a program of Kubernetes. The controller sent no DELETE.",
		Keep: "Not the controller but the garbage collector deletes what has lost its owner.",
		Why:  "The controller wrote the owner reference when it created the Deployment. Another program, the garbage collector, deletes what has no owner left: here it looks twice a second. A UID is never used again, so a new Foo of the same name is another owner. The controller itself deletes only the old Deployment of a Foo that now names another one.",
		Code: "controller/foo/reconcile.go",
	},
	{
		Title:    "It leaves alone what is another’s",
		Say:      "Somebody else has a Deployment web. Your Foo asks for one of that name.",
		Setup:    "take-name web",
		Question: "What does the controller do with it?", Answers: []string{"Takes it over", "Replaces it", "Leaves it alone"}, Right: 2,
		Button: "Create the Foo", Act: "create example-foo web 2",
		Seen: "It wrote nothing to it. The Foo’s status says NameTaken.",
		Keep: "The controller never writes what it does not control.",
		Why:  "The controller writes no Deployment that it does not control, and says so in the status. It does not poll: when the name is free, that change wakes the Foo that waits for it.",
		Code: "controller/foo/blocked.go",
	},
	{
		Title:    "Two writers",
		Say:      "Another client writes the Deployment, just before the controller does.",
		Setup:    "create example-foo web 2; wait; busy on",
		Question: "Both write from one version. Which write counts?", Answers: []string{"The last one", "The first one"}, Right: 1,
		Button: "Scale the Foo", Act: "scale example-foo 4",
		Seen: "The second writer got 409 Conflict, waited for the new version, and wrote again.",
		Keep: "A write carries the version that it was made from.",
		Why:  "A PUT has the resourceVersion of what was read. If the object has changed since, the server refuses it, so that nobody overwrites what he has not seen. The controller takes that for normal, and compares anew.",
		Code: "controller/controller.go",
	},
	{
		Title:    "It waits longer each time",
		Say:      "A quota is used up: the server refuses creates. The Foo cafe has what it needs.",
		Setup:    "create example-foo web 2; create cafe bar 1; wait; quota on",
		Question: "You delete web. Does it try again?", Answers: []string{"Once", "Every second", "Later each time"}, Right: 2,
		Button: "Delete the Deployment", Act: "delete-deployment web",
		Seen: "Each pause is twice as long: “next try in …”. The Foo cafe waits for nothing.",
		Keep: "Try again, each time twice as late, and say why in the status.",
		Why:  "No watch says that a quota was lifted; only a retry finds out. A key that fails waits beside the queue, not in it, so the others pass. The status says Forbidden, with the server’s words.",
		Code: "controller/queue.go",
	},
	{
		Title:    "It begins anew",
		Say:      "The Deployment was deleted, and its event is held back: the store still has it.",
		Setup:    "create example-foo web 2; wait; hold on; delete-deployment web; wait",
		Question: "The event is lost. How does it find out?", Answers: []string{"It never does", "It lists everything", "It is told again"}, Right: 1,
		Button: "Lose the event", Act: "forget; hold off",
		Seen: "410 Gone: it listed everything, found no Deployment, and created it again.",
		Keep: "A watch may lose anything; a list makes up for it.",
		Why:  "A Reflector watches again from the version that it has seen last. The server has forgotten that one, and says 410. So the Reflector lists, compares with its store, and tells the handler what is gone.",
		Code: "informer/informer.go",
	},
	{
		Title:    "One leads",
		Say:      "Two controllers run; only the one with the Lease writes. It dies as you scale the Foo.",
		Setup:    "create example-foo web 2; wait; start; wait",
		Question: "When does the other one go on?", Answers: []string{"At once", "When the Lease is over", "Never"}, Right: 1,
		Button: "Kill the leader", Act: "kill; scale example-foo 4",
		Seen: "It waited until the Lease had run out, listed everything, and scaled.",
		Keep: "All that counts is in the objects, not in the process.",
		Why:  "A leader renews the Lease every second; one that was killed cannot give it back. The second one knows nothing of the first. It lists, compares, and goes on, since the objects say all that is asked for.",
		Code: "main.go",
	},
	{
		Title:    "Write it wrong",
		Say:      "This controller was written wrong: it does not hear of deletions.",
		Setup:    "bug deaf-to-deletion; wait; create example-foo web 2; wait",
		Question: "You delete the Deployment. What happens?", Answers: []string{"It comes back", "It stays away"}, Right: 1,
		Button: "Delete the Deployment", Act: "delete-deployment web",
		Seen: "Nothing put its key into the queue, so nobody looked.",
		Keep: "A change that no handler hears of is one that nobody mends.",
		Why:  "The scenario deployment-deleted of make judge finds this bug. It is one of eight in the drawer Bugs, each with the file that does it right.",
		Code: "controller/handlers.go",
	},
}

// bug is one that a controller may have: see tools/playground/lab. Luck and Fault show it: what is
// on, and what is done. Now says so to a person, and what is seen then.
type bug struct{ Name, What, Scenario, Code, Luck, Fault, Now string }

var bugs = []bug{
	{"none", "As it stands in this repository.", "", "", "", "", ""},
	{"deaf-to-deletion", "It does not hear that a Deployment is deleted.", "deployment-deleted", "controller/handlers.go", "", "delete-deployment web", "Now delete the Deployment: it stays away."},
	{"deaf-to-names", "It does not hear that a name which a Foo waits for is free.", "name-freed", "informer/foo.go", "", "take-name taken; create late taken 1; delete-deployment taken", "Now take a name, create a Foo that wants it, delete that Deployment: the Foo waits on."},
	{"no-retry", "It does not try again what has failed.", "rights-taken", "controller/queue.go", "refuse-creates", "delete-deployment web", "Now refuse creates, delete the Deployment, and allow creates again: it stays away."},
	{"no-owner", "It creates the Deployment without an owner reference.", "deleted-background", "controller/foo/deployment.go", "", "delete-deployment web", "Now delete the Deployment: the new one has no owner, and the Foo says NameTaken."},
	{"no-rename", "It does not delete the Deployment of the earlier name.", "rename", "controller/foo/rename.go", "", "rename example-foo renamed", "Now rename its Deployment, to another name: the old one stays."},
	{"deletes-first", "It deletes the Deployment of the earlier name before there is a new one.", "rename", "controller/foo/rename.go", "refuse-creates", "rename example-foo renamed", "Now refuse creates, and rename its Deployment: the old one goes, and no new one comes."},
	{"exits-on-5xx", "It ends when the server answers 500.", "webhook-down", "controller/controller.go", "a-webhook-is-down", "scale example-foo 3", "Now turn on “A webhook is down”, and scale the Foo: the program ends, again and again."},
	{"edge-triggered", "It does what each event says, and compares nothing.", "killed-before-write", "controller/foo/reconcile.go", "", "stop; scale example-foo 4; start", "Now scale the Deployment: nobody scales it back."},
}

// action is a command of the user, or of bad luck, which may stay until it is put back.
type action struct {
	Do, Send, Button, What string
	Stays                  bool
}

var actions = []action{
	{Do: "create", Send: "create {foo} {deployment} {replicas}", Button: "Create the Foo"},
	{Do: "scale", Send: "scale {foo} {replicas}", Button: "Scale the Foo"},
	{Do: "rename", Send: "rename {foo} {deployment}", Button: "Rename its Deployment"},
	{Do: "delete-background", Send: "delete {foo} background", Button: "Delete the Foo"},
	{Do: "delete-foreground", Send: "delete {foo} foreground", Button: "Delete it in foreground"},
	{Do: "delete-orphan", Send: "delete {foo} orphan", Button: "Delete it, orphan Deployment"},
	{Do: "delete-deployment", Send: "delete-deployment {deployment}", Button: "Delete the Deployment"},
	{Do: "scale-deployment", Send: "scale-deployment {deployment} {replicas}", Button: "Scale the Deployment"},
	{Do: "set-image", Send: "set-image {deployment} nginx:1.0", Button: "Change its image"},
	{Do: "take-name", Send: "take-name {deployment}", Button: "Take the name"},
}

var luck = []action{
	{Do: "cut", Button: "Cut the watches", What: "The connections break, as when a proxy restarts. Each Reflector watches again from the version that it has seen last."},
	{Do: "forget", Button: "Forget the history", What: "The server no longer knows the versions since the watches broke: 410 Gone, and the Reflectors list again."},
	{Do: "kill", Button: "Kill the controller", What: "The process that the picture shows sends and hears nothing more. Its Lease stays until it expires."},
	{Do: "start", Button: "Start one more controller", What: "If there is one already, it stands by, and takes over when the leader is gone."},
	{Do: "hold", Button: "Hold the watch", What: "That of Deployments. The store shows an older state, as behind a slow network. Nothing is lost.", Stays: true},
	{Do: "quota", Button: "Refuse creates", What: "A quota is used up: each POST of a Deployment is 403 Forbidden.", Stays: true},
	{Do: "webhook", Button: "A webhook is down", What: "What the server asks before each write of a Deployment does not answer: 500.", Stays: true},
	{Do: "lose", Button: "Answers get lost", What: "Each write takes effect, and the connection breaks before the answer.", Stays: true},
	{Do: "busy", Button: "Another client writes", What: "A client annotates the Deployment just before each PUT of the controller, which meets 409 Conflict, once.", Stays: true},
	{Do: "slow", Button: "A slow API server", What: "Each answer takes a second longer.", Stays: true},
}
