// Package memory judges a controller in memory, where time stands still while it works: see the command
// judge/quick, which writes the one test that calls it.
package memory

import (
	"testing"

	"example.com/byhand/judge/internal/court"
)

// Judge plays the scenarios that an API server in memory can play, prints what the judge says, and
// ends the process with the number of those that fall short. The program is about Foos, or about the
// kind that config/crd.yaml of its folder defines.
func Judge(t *testing.T, run court.Contract) { court.Quick(t, run) }
