package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Properties is a set of requirements on a controller.
type Properties uint8

const (
	P1 Properties = 1 << iota // converges, and stays
	P2                        // silence
	P3                        // never two Deployments
	P4                        // no orphan
	P5                        // writes nothing foreign
	P6                        // the same end as without the fault
	P7                        // bounded
	P8                        // a good Foo does not wait for bad ones
)

type property struct {
	bit               Properties
	name, short, says string
}

// all are the properties, in the order of the columns.
var all = []property{
	{P1, "P1", "converges", "It converges, and stays: each Foo has the one Deployment that it asks for and the correct status.availableReplicas. If another owner has the Deployment's name, the Foo has no Deployment and reports 0. The program does not undo a state that it has reached."},
	{P2, "P2", "silent", "Silence: if nothing differs, it writes no Foo and no Deployment. Events and Leases do not count."},
	{P3, "P3", "never two", "Never two: at no revision does one Foo control two Deployments, except during a rename."},
	{P4, "P4", "no orphan", "No orphan: no Deployment remains of a deleted Foo, or under an earlier name of a Foo."},
	{P5, "P5", "nothing foreign", "Nothing foreign: it never writes a Deployment that no Foo controls, or the spec of a Foo."},
	{P6, "P6", "the same end", "The same end: after a fault, the Deployments and the status are the same as without the fault."},
	{P7, "P7", "bounded", "Bounded: while its requests fail or its writes are undone, it sends few requests. It uses at most 1 GiB, and does not exit."},
	{P8, "P8", "no good Foo waits", "A good Foo does not wait for bad ones: it takes at most 5 times as long as alone, plus 2 s."},
}

// String returns "P1 P3" for P1|P3.
func (p Properties) String() string {
	var names []string
	for _, one := range all {
		if p&one.bit != 0 {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, " ")
}

// Finding is one violation.
type Finding struct {
	// Property is 0 if the controllers of Kubernetes, and not the program, keep the state from being right.
	Property Properties
	Lesson   *Lesson
	// Text has the expected and the actual state, with its revision.
	Text string
	// At is when it was seen. The requests before it led to it.
	At time.Time
	// Requests are the last ones before At.
	Requests []string
	// Allow has the lines that accept it in a script. If empty, the line is the scenario and the property.
	Allow []string
}

func Found(property Properties, lesson *Lesson, at time.Time, format string, args ...any) Finding {
	return Finding{Property: property, Lesson: lesson, At: at, Text: fmt.Sprintf(format, args...)}
}
