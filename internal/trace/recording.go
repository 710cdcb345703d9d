package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// lineLimit is more than the longest line that is ever written.
const lineLimit = 4 << 20

var parts = []Part{PartStream, PartStore, PartQueue, PartWorker, PartReconcile, PartRequest, PartProgram}

// ReadRecording reads what --trace=json wrote, one step a line. Its error names the
// line that is wrong; the steps before it are returned in any case.
func ReadRecording(from io.Reader) (steps []Step, err error) {
	lines := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return steps, fmt.Errorf("line %d of the recording: %w", number, err)
		}
		atEnd := err != nil
		if text := bytes.TrimSpace(line); len(text) > 0 {
			step, err := parseLine(text)
			switch {
			case err != nil && atEnd:
				return steps, fmt.Errorf("line %d of the recording is cut off: %w", number, err)
			case err != nil:
				return steps, fmt.Errorf("line %d of the recording: %w", number, err)
			case len(steps) > 0 && step.Seq <= steps[len(steps)-1].Seq:
				return steps, fmt.Errorf("line %d of the recording: step %d comes after step %d: are these two recordings?", number, step.Seq, steps[len(steps)-1].Seq)
			}
			steps = append(steps, step)
		}
		if atEnd {
			break
		}
	}
	if steps == nil {
		return nil, errors.New("the recording is empty")
	}
	return steps, nil
}

// readLine returns a line, and io.EOF with one that nothing ends.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > lineLimit:
			return nil, fmt.Errorf("longer than %d bytes", lineLimit)
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

func parseLine(text []byte) (step Step, err error) {
	if err := json.Unmarshal(text, &step); err != nil {
		return step, fmt.Errorf("not a step in JSON: %w: %q", err, cut(string(text), 60))
	}
	switch {
	case step.Seq < 1:
		return step, fmt.Errorf("a step without a number: %q", cut(string(text), 60))
	case step.Time.IsZero():
		return step, fmt.Errorf("step %d has no time", step.Seq)
	case !slices.Contains(parts, step.Part):
		return step, fmt.Errorf("step %d is of an unknown part, %q", step.Seq, cut(string(step.Part), 60))
	case step.What == "":
		return step, fmt.Errorf("step %d does not say what happened", step.Seq)
	}
	return step, nil
}

// lines writes steps as a recording.
type lines struct{ to io.Writer }

func (l lines) step(step Step) error {
	return json.NewEncoder(l.to).Encode(step)
}

// dropped stands in the place of steps that were lost before a step.
func dropped(lost int64, next Step) Step {
	return Step{Seq: max(next.Seq-1, 1), Time: next.Time, Part: PartProgram, What: Dropped,
		Text: fmt.Sprintf("%d steps are missing here: more happened than could be told", lost)}
}
