// Package memory judges a controller in memory, where time stands still while it works: see the command
// tools/judge/quick, which writes the one test that calls it, and says what came of it.
package memory

import (
	"testing"

	"example.com/byhand/tools/judge/internal/court"
	"example.com/byhand/tools/judge/internal/court/stage"
)

// Play plays the scenarios that an API server in memory can play, as tools/judge/quick asks for them, and ends the
// process. The program is about Foos, or about the kind that config/crd.yaml of its folder defines.
func Play(t *testing.T, run stage.Contract) { court.Play(t, run) }
