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

// Step is one thing that one part did. Its JSON form is a line of --trace=json, of
// a recording, and an event of the page.
type Step struct {
	// Seq counts the steps of this process from 1. A gap says that steps were dropped.
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	Part Part      `json:"part"`
	// What is one word for what happened, such as "added", "coalesced", "sent".
	What string `json:"what"`
	// Kind and Key name the object that the step is about: "Foo", "default/foo".
	Kind string `json:"kind,omitempty"`
	Key  string `json:"key,omitempty"`
	// Foo is the key whose reconcile the step belongs to or leads to. "" is none.
	Foo string `json:"foo,omitempty"`
	// Text says it in words.
	Text string `json:"text,omitempty"`
	// Cause says in words what led to it, CauseSeq is that step's Seq.
	Cause    string `json:"cause,omitempty"`
	CauseSeq int64  `json:"causeSeq,omitempty"`
	// Version is the resourceVersion of the object, before it comes the one it had.
	Version string `json:"version,omitempty"`
	// Echo says that this process itself wrote that version.
	Echo bool `json:"echo,omitempty"`
	// Object is the object as it is now, without managedFields. Only Foos, Projects
	// and Deployments are ever in it.
	Object json.RawMessage `json:"object,omitempty"`
	// Request is set in the steps of PartRequest and PartStream.
	Request *Request `json:"request,omitempty"`
	// Depth is how many keys wait, in the steps of PartQueue and PartWorker.
	Depth int `json:"depth,omitempty"`
	// Took is how long it took, in nanoseconds: a reply, a reconcile.
	Took time.Duration `json:"took,omitempty"`
	// File and Func say where the code of it stands, as "controller/foo.go" and
	// "FooReconciler.Reconcile".
	File string `json:"file,omitempty"`
	Func string `json:"func,omitempty"`
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
	// Body is what was sent and Reply what came back, of writes; cut off where they
	// are long.
	Body  string `json:"body,omitempty"`
	Reply string `json:"reply,omitempty"`
}
