package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Properties is a set of requirements on a controller.
type Properties uint8

const (
	// P1: it converges. Each Foo has its Deployment and a true status.availableReplicas. If another owner has the
	// name, the Foo has no Deployment and no replicas. The program does not undo this state.
	P1 Properties = 1 << iota
	// P2: it is silent. When there is nothing to do, it writes no Foo and no Deployment. Events and Leases do not
	// count.
	P2
	// P3: a Foo never controls two Deployments, except between a rename and its clean-up.
	P3
	// P4: no Deployment remains of a deleted Foo, or of a name that a Foo had.
	P4
	// P5: it never writes a Deployment that its Foo does not control, or the spec of a Foo.
	P5
	// P6: after a fault, the Deployments and the status are the same as without it.
	P6
	// P7: it sends few requests while they fail, or while its writes are undone. It needs at most 1 GiB, and does
	// not exit.
	P7
	// P8: a good Foo takes at most 5 times as long with bad Foos as alone, plus 2 s.
	P8
)

// property has a property's name and its meaning in a few words.
type property struct {
	bit         Properties
	name, short string
}

// all are the properties, in the order of the columns.
var all = []property{
	{P1, "P1", "converges"},
	{P2, "P2", "writes nothing without need"},
	{P3, "P3", "no duplicates"},
	{P4, "P4", "no orphans"},
	{P5, "P5", "writes only its own objects"},
	{P6, "P6", "same result after a fault"},
	{P7, "P7", "few requests, little memory, no exit"},
	{P8, "P8", "bad objects delay no others"},
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
