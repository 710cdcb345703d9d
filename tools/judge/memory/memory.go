// Package memory judges a controller in memory, in virtual time. The command tools/judge/quick generates the
// test that calls it, and prints the result.
package memory

import (
	"testing"

	"example.com/byhand/tools/judge/internal/court"
	"example.com/byhand/tools/judge/internal/court/stage"
)

// Play runs the scenarios that tools/judge/quick selects, and ends the process. The program is about Foos, or
// about the kind that config/crd.yaml of its folder defines.
func Play(t *testing.T, run stage.Contract) { court.Play(t, run) }
