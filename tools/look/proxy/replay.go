package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/trace"
)

// version begins a recording. It changes with the recorded fields.
const version = "recording 2"

// RecordTo writes each step from now on to a recording.
func (p *Proxy) RecordTo(out io.Writer) {
	p.Print(observer.JSON, out)
	p.Record(&trace.Step{Part: trace.PartProgram, What: trace.Started, Log: "look", Text: version}, nil)
}

// Replay prints the log of a recording, with the causes and findings of the current rules. It needs no
// API server, and cannot report unused permissions. The returned Proxy has the findings.
func Replay(recording io.Reader, o Options, log io.Writer) (*Proxy, error) {
	steps, err := trace.ReadRecording(recording)
	if err == nil && (steps[0].What != trace.Started || !strings.HasPrefix(steps[0].Text, version)) {
		err = errors.New("not a recording of this version of look")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: make one with bin/look --record FILE", err)
	}
	p, err := newProxy(o)
	if err != nil {
		return nil, err
	}
	p.isReplay = true
	p.Print(observer.Flag{}, log)
	exchanges := map[int64]*exchange{}
	for _, step := range steps {
		if step.Request == nil {
			continue
		}
		x := exchanges[step.CauseSeq]
		if x == nil {
			x = p.replayed(&step)
			exchanges[step.Seq] = x
		}
		if step.What == trace.Answered && x.isWrite() {
			p.world.wrote(x, bodyOf(&step))
		}
		clean := &trace.Step{Part: step.Part, What: step.What, Kind: step.Kind, Key: step.Key, CauseSeq: step.CauseSeq, Version: step.Version, Echo: step.Echo, Request: step.Request, Took: step.Took}
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
