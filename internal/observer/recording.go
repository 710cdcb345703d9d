package observer

import (
	"bufio"
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
	lines, number, last := bufio.NewScanner(from), 0, int64(0)
	lines.Buffer(nil, lineLimit)
	defer func() {
		if err != nil {
			err = fmt.Errorf("line %d of the recording: %w", number, err)
		}
	}()
	for lines.Scan() {
		number++
		if len(lines.Bytes()) == 0 {
			continue
		}
		step, err := parseLine(lines.Bytes())
		if err == nil && step.Seq <= last {
			err = fmt.Errorf("step %d comes after step %d: are these two recordings?", step.Seq, last)
		}
		if err != nil {
			return steps, err
		}
		steps, last = append(steps, step), step.Seq
	}
	number++
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return steps, fmt.Errorf("longer than %d bytes", lineLimit)
	}
	if lines.Err() == nil && steps == nil {
		return nil, errors.New("it is empty")
	}
	return steps, lines.Err()
}

func parseLine(text []byte) (step Step, err error) {
	err = json.Unmarshal(text, &step)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) && syntax.Offset == int64(len(text)) {
		return step, fmt.Errorf("cut off: %w", err)
	}
	if err != nil {
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

// jsonLines is the form of a recording.
type jsonLines struct{}

func (jsonLines) line(step *Step) string {
	line, err := json.Marshal(step)
	if err != nil {
		return "" // of texts and numbers alone: it cannot be
	}
	return string(line) + "\n"
}
