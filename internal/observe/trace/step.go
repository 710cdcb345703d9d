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
	PartStore     Part = "store"     // the informer's store, and the handler that is called after each change
	PartQueue     Part = "queue"     // waiting keys
	PartWorker    Part = "worker"    // a worker takes a key, and gives it back
	PartReconcile Part = "reconcile" // compares current and desired state
	PartRequest   Part = "request"   // the REST client, from the worker to the API server
	PartProgram   Part = "program"   // start, leadership, end
)

// The words of a step. They are part of the JSON format; doc.go explains them.
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

// Step is one action of one part. Its JSON form is a line of --trace=json and of recordings, and an event
// of the page.
type Step struct {
	// Seq counts the steps of this process from 1. A gap means that steps were lost.
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	Part Part      `json:"part"`
	// What is the step's word, such as "added", "coalesced", "sent".
	What string `json:"what"`
	// Kind and Key identify the step's object: "Foo", "default/foo".
	Kind string `json:"kind,omitempty"`
	Key  string `json:"key,omitempty"`
	// For is the kind and key of the object whose reconcile the step belongs to or
	// causes: "Foo default/foo". It may be "".
	For string `json:"for,omitempty"`
	// Text describes the step.
	Text string `json:"text,omitempty"`
	// Cause describes the cause of the step, CauseSeq is the Seq of the causing step.
	Cause    string `json:"cause,omitempty"`
	CauseSeq int64  `json:"causeSeq,omitempty"`
	// Version is the object's current or last resourceVersion.
	Version string `json:"version,omitempty"`
	// Echo is true if this process wrote that version.
	Echo bool `json:"echo,omitempty"`
	// Object has the visible fields of the object.
	Object json.RawMessage `json:"object,omitempty"`
	// Request is set in the steps of PartRequest and PartStream.
	Request *Request `json:"request,omitempty"`
	// Depth is the number of waiting keys, in steps of PartQueue and PartWorker.
	Depth int `json:"depth,omitempty"`
	// Took is the duration of a request or a reconcile, in nanoseconds.
	Took time.Duration `json:"took,omitempty"`
	// Requeue is the requeueAfter of an ended reconcile.
	Requeue time.Duration `json:"requeue,omitempty"`
	// File and Func locate the step's code, such as "controller/foo/reconcile.go" and
	// "Reconciler.Reconcile".
	File string `json:"file,omitempty"`
	Func string `json:"func,omitempty"`

	// Log is the log's word for a store event, or for any step of a program that is observed from
	// outside; "" if the log omits the step.
	Log string `json:"-"`
}

// Request is a request in its wire form. Headers are never in it.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// Metadata is true if only the metadata of objects was requested.
	Metadata bool `json:"metadata,omitempty"`
	// Event is the type of a watch event, in a recording of look.
	Event string `json:"event,omitempty"`
	// Status is the response's code, or 0 without a response.
	Status int `json:"status,omitempty"`
	// Bytes is the number of bytes read from the response's body.
	Bytes int64 `json:"bytes,omitempty"`
	// Body and Reply are the visible fields of a write's request and response, cut to a
	// limit. In a recording of look Reply also has the objects of a list.
	Body  string `json:"body,omitempty"`
	Reply string `json:"reply,omitempty"`
}
