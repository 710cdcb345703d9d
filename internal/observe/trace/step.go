package trace

import (
	"encoding/json"
	"time"
)

// Part is a moving part of the flow, from the API server and back to it.
type Part string

// The parts, in the order in which an object travels them.
const (
	PartStream    Part = "stream"    // a list or a watch, from the API server to the Reflector
	PartStore     Part = "store"     // the informer's store, and the handler that is called after it has changed
	PartQueue     Part = "queue"     // keys that wait
	PartWorker    Part = "worker"    // a worker takes a key, and gives it back
	PartReconcile Part = "reconcile" // what is against what should be
	PartRequest   Part = "request"   // the REST client, from the worker to the API server
	PartProgram   Part = "program"   // start, leadership, end
)

// What a step can be. The words are the contract of the JSON form, too: doc.go says
// what they mean.
const (
	Opened, Listed, Received, Refused        = "opened", "listed", "received", "refused"
	Added, Updated, Deleted, Tombstone       = "added", "updated", "deleted", "tombstone"
	Resync, Relisted                         = "resync", "relisted"
	Coalesced, Delayed, Limited, Due, Forgot = "coalesced", "delayed", "limited", "due", "forgot"
	Got, Done                                = "got", "done"
	Started, Ended, Failed                   = "started", "ended", "failed"
	Sent, Answered                           = "sent", "answered"
	Standby, Leader, Synced, Lost, Stopped   = "standby", "leader", "synced", "lost", "stopped"
	Said                                     = "said" // anything else
)

// Step is one thing that one part did. Its JSON form is a line of --trace=json, of
// a recording, and an event of the page.
type Step struct {
	// Seq counts the steps of this process from 1. A gap says that steps are missing.
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	Part Part      `json:"part"`
	// What is one word for what happened, such as "added", "coalesced", "sent".
	What string `json:"what"`
	// Kind and Key name the object that the step is about: "Foo", "default/foo".
	Kind string `json:"kind,omitempty"`
	Key  string `json:"key,omitempty"`
	// For names the object whose reconcile the step belongs to or leads to, by kind
	// and key: "Foo default/foo". "" is none.
	For string `json:"for,omitempty"`
	// Text says it in words.
	Text string `json:"text,omitempty"`
	// Cause says in words what led to it, CauseSeq is that step's Seq.
	Cause    string `json:"cause,omitempty"`
	CauseSeq int64  `json:"causeSeq,omitempty"`
	// Version is the resourceVersion that the object has now, or had last.
	Version string `json:"version,omitempty"`
	// Echo says that this process itself wrote that version.
	Echo bool `json:"echo,omitempty"`
	// Object holds those fields of the object that its Kind shows.
	Object json.RawMessage `json:"object,omitempty"`
	// Request is set in the steps of PartRequest and PartStream.
	Request *Request `json:"request,omitempty"`
	// Depth is how many keys wait, in the steps of PartQueue and PartWorker.
	Depth int `json:"depth,omitempty"`
	// Took is how long it took, in nanoseconds: a reply, a reconcile.
	Took time.Duration `json:"took,omitempty"`
	// Requeue is after what time a reconcile that has ended wants to look again.
	Requeue time.Duration `json:"requeue,omitempty"`
	// File and Func say where the code of it stands, as "controller/foo/reconcile.go" and
	// "Reconciler.Reconcile".
	File string `json:"file,omitempty"`
	Func string `json:"func,omitempty"`

	// Log is the log's word for an event of a store, or any step of a program that is seen from
	// outside; "" if it does not tell it.
	Log string `json:"-"`
}

// Request is a request in its wire form. Headers are never in it.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// Status is the answer's code, 0 for none.
	Status int `json:"status,omitempty"`
	// Bytes is the size of the answer's body, as far as it was read.
	Bytes int64 `json:"bytes,omitempty"`
	// Body is what was sent and Reply what came back, of writes, as far as its Kind
	// shows it; cut off where they are long.
	Body  string `json:"body,omitempty"`
	Reply string `json:"reply,omitempty"`
}
