package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/trace"
)

// version begins a recording. It changes with the recorded fields.
const version = "recording 2 of "

// RecordTo writes each step from now on to a recording.
func (p *Proxy) RecordTo(out io.Writer) {
	p.Print(observer.JSON, out)
	p.Record(&trace.Step{Part: trace.PartProgram, What: trace.Started, Log: "look", Text: version + p.program}, nil)
}

// Replay prints the log of a recording, with the causes and findings of the current rules. It needs no
// API server, and cannot report unused rights. The returned Proxy has the findings.
func Replay(recording io.Reader, o Options, log io.Writer) (*Proxy, error) {
	steps, err := trace.ReadRecording(recording)
	if err == nil && (steps[0].What != trace.Started || !strings.HasPrefix(steps[0].Text, version)) {
		err = errors.New("not a recording of this version of look")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: make one with bin/look --record FILE", err)
	}
	o.Program = cmp.Or(o.Program, strings.TrimPrefix(steps[0].Text, version))
	p, err := newProxy(o)
	if err != nil {
		return nil, err
	}
	p.isReplay = true
	p.Print(observer.Flag{}, log)
	exchanges, answered := map[int64]*exchange{}, 0
	for i := range steps {
		// Live, a response is read before the steps of the preceding toldAfter are logged.
		for ; answered < len(steps) && steps[answered].Time.Sub(steps[i].Time) <= toldAfter; answered++ {
			step := &steps[answered]
			x := exchanges[step.CauseSeq]
			switch {
			case step.Request == nil:
			case x == nil:
				x = p.replayed(step)
				exchanges[step.Seq] = x
			case step.What == trace.Answered && x.isWrite():
				x.answered(bodyOf(step))
			}
		}
		step := steps[i]
		x := cmp.Or(exchanges[step.CauseSeq], exchanges[step.Seq])
		if x == nil {
			continue
		}
		clean := &trace.Step{Part: step.Part, What: step.What, Kind: step.Kind, Key: step.Key, CauseSeq: step.CauseSeq, Version: step.Version, Request: step.Request, Took: step.Took}
		p.Record(clean, func(clean *trace.Step) {
			clean.Time = step.Time
			p.tell(note{x, clean, step.Request.Status, bodyOf(&step)})
		})
		p.Observer.Close() // This publishes the step.
	}
	p.finish()
	return p, nil
}

// replayed returns the exchange that a step begins.
func (p *Proxy) replayed(step *trace.Step) *exchange {
	query, _ := url.ParseQuery(step.Request.Query) // It was encoded by Encode.
	x := p.newExchange(step.Time.Add(-step.Took), step.Request.Method, step.Request.Path, query)
	x.kind, x.partial = step.Kind, step.Request.Metadata
	return x
}

// bodyOf returns the request or response body in a step.
func bodyOf(step *trace.Step) []byte {
	switch {
	case step.What == trace.Sent:
		return []byte(step.Request.Body)
	case step.Request.Reply != "":
		return []byte(step.Request.Reply)
	}
	return step.Object
}
