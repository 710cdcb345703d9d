package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Transport is an http.RoundTripper that calls a handler: the network is memory, so that a
// client and its server can live in one bubble of testing/synctest. The handler runs in a
// goroutine of its own. RoundTrip returns when it returns, or when it flushes for the first
// time; from then on, what it writes waits until the client reads it.
type Transport struct{ Handler http.Handler }

// errAborted is what a client sees of a connection that breaks.
var errAborted = errors.New("the connection broke")

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	request := r.Clone(ctx)
	request.Body, request.RequestURI = io.NopCloser(bytes.NewReader(sent)), r.URL.RequestURI()
	a := &answer{cancel: cancel, header: http.Header{}, began: make(chan struct{})}
	a.PipeReader, a.writer = io.Pipe()
	context.AfterFunc(ctx, func() { _ = a.writer.CloseWithError(ctx.Err()) })
	go func() {
		defer func() {
			reason := recover()
			if reason != nil && reason != http.ErrAbortHandler {
				panic(reason)
			}
			a.end(reason != nil)
		}()
		t.Handler.ServeHTTP(a, request)
	}()
	select {
	case <-a.began:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if a.aborted {
		return nil, errAborted
	}
	response := &http.Response{Status: fmt.Sprint(a.code, " ", http.StatusText(a.code)), StatusCode: a.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, ContentLength: -1, Request: r, Body: a}
	if !a.streams {
		response.Body = io.NopCloser(&a.complete)
	}
	return response, nil
}

// answer is what the handler writes to, and the body that the client reads.
type answer struct {
	*io.PipeReader
	writer *io.PipeWriter
	cancel context.CancelFunc

	header   http.Header
	code     int
	complete bytes.Buffer  // until the first flush
	began    chan struct{} // The client has its response.
	streams  bool
	aborted  bool
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.streams {
		return a.writer.Write(b)
	}
	return a.complete.Write(b)
}

// FlushError is what http.ResponseController calls.
func (a *answer) FlushError() error {
	if a.streams {
		return nil
	}
	a.WriteHeader(http.StatusOK)
	a.streams, a.header = true, a.header.Clone()
	close(a.began)
	_, err := a.writer.Write(a.complete.Bytes())
	return err
}

func (a *answer) Flush() { _ = a.FlushError() }

// end is called when the handler has returned.
func (a *answer) end(aborted bool) {
	switch {
	case !a.streams:
		a.WriteHeader(http.StatusOK)
		a.aborted = aborted
		close(a.began)
		a.cancel()
	case aborted:
		_ = a.writer.CloseWithError(errAborted)
	default:
		_ = a.writer.Close()
	}
	a.cancel()
}

// Close ends the request, as the end of a connection does.
func (a *answer) Close() error {
	a.cancel()
	return a.PipeReader.Close()
}
