package main

import "strings"

// properties is a set of what a controller must do.
type properties uint8

const (
	P1 properties = 1 << iota // converges, and stays
	P2                        // silence
	P3                        // never two Deployments
	P4                        // no orphan
	P5                        // nothing foreign is written
	P6                        // the same end as without the fault
	P7                        // bounded
	P8                        // a good Foo does not wait for bad ones
)

// all lists them in the order of the columns.
var all = []properties{P1, P2, P3, P4, P5, P6, P7, P8}

// String returns "P1 P3" for P1|P3.
func (p properties) String() string {
	var names []string
	for i, one := range all {
		if p&one != 0 {
			names = append(names, "P"+string(rune('1'+i)))
		}
	}
	return strings.Join(names, " ")
}
