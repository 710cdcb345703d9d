package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// lineLimit is more than the longest line that is ever written.
const lineLimit = 64 << 20

var parts = []Part{PartStream, PartStore, PartQueue, PartWorker, PartReconcile, PartRequest, PartProgram}

// ReadRecording reads what --trace=json wrote, one step a line. Its error names the
// line that is wrong; the steps before it are returned in any case.
func ReadRecording(from io.Reader) (steps []Step, err error) {
	lines, number := bufio.NewScanner(from), 1
	lines.Buffer(nil, lineLimit)
	for last := int64(0); lines.Scan(); number++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		step, err := parseStep(lines.Bytes(), last)
		if err != nil {
			return steps, fmt.Errorf("line %d of the recording: %w", number, err)
		}
		steps, last = append(steps, step), step.Seq
	}
	if err := lines.Err(); err != nil {
		return steps, fmt.Errorf("line %d of the recording: %w", number, err)
	}
	if steps == nil {
		return nil, errors.New("the recording is empty")
	}
	return steps, nil
}

func parseStep(line []byte, last int64) (step Step, err error) {
	err = json.Unmarshal(line, &step)
	switch {
	case err != nil:
		err = fmt.Errorf("not a step in JSON: %w", err)
	case step.Seq < 1 || step.Time.IsZero() || step.What == "" || !slices.Contains(parts, step.Part):
		err = fmt.Errorf("not a step: it needs seq, time, what, and as its part one of %q", parts)
	case step.Seq <= last:
		err = fmt.Errorf("step %d comes after step %d: are these two recordings?", step.Seq, last)
	}
	return step, err
}

// Line is the step as a line of a recording.
func (s *Step) Line() string {
	line, _ := json.Marshal(s) // of texts and numbers alone: it cannot fail
	return string(line) + "\n"
}
