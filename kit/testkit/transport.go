package testkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Transport is an http.RoundTripper that calls a handler in memory, so that a client and its server can share
// one bubble of testing/synctest. Each call of the handler has a separate goroutine. Written data waits until
// the client reads it.
type Transport struct{ Handler http.Handler }

// errAborted is the client's error for a broken connection, as with net/http.
var errAborted = io.ErrUnexpectedEOF

// RoundTrip implements http.RoundTripper. It returns when the handler begins its answer.
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
	a := &answer{cancel: cancel, header: http.Header{}, response: &http.Response{ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Request: r}, began: make(chan struct{})}
	a.PipeReader, a.writer = io.Pipe()
	a.response.Body = a
	context.AfterFunc(ctx, func() { _ = a.writer.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer cancel()
		defer func() {
			switch reason := recover(); reason {
			case nil:
				a.WriteHeader(http.StatusOK)
				_ = a.writer.Close()
			case http.ErrAbortHandler:
				a.begin.Do(func() { a.response = nil; close(a.began) })
				_ = a.writer.CloseWithError(errAborted)
			default:
				panic(reason)
			}
		}()
		t.Handler.ServeHTTP(a, request)
	}()
	select {
	case <-a.began:
	case <-r.Context().Done(): // not ctx, which ends with the answer
		return nil, r.Context().Err()
	}
	if a.response == nil {
		return nil, errAborted
	}
	return a.response, nil
}

// answer is the handler's ResponseWriter and the client's response body.
type answer struct {
	*io.PipeReader
	writer *io.PipeWriter
	cancel context.CancelFunc
	header http.Header

	begin    sync.Once
	began    chan struct{}  // closed once response is as the client gets it
	response *http.Response // nil: the connection broke before
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) {
	a.begin.Do(func() {
		a.response.StatusCode, a.response.Status = code, fmt.Sprint(code, " ", http.StatusText(code))
		a.response.Header = a.header.Clone()
		close(a.began)
	})
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.writer.Write(b)
}

// Flush implements http.Flusher.
func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }

// Close ends the request, as the end of a connection does.
func (a *answer) Close() error {
	a.cancel()
	return a.PipeReader.Close()
}
