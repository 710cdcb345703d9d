package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// What one client may take, so that no other goes without. The API server has such limits, too;
// a body there may have 3 MB. Package storage limits what is stored.
const (
	// maxBody is the size of what a client may send, and maxDepth is how deep its JSON may nest.
	// Code that reads or merges each level anew takes seconds for thousands of levels. maxMistakes
	// is how many mistakes in it the answer names.
	maxBody, maxDepth, maxMistakes = 64 << 10, 64, 20
	// maxRequests and maxWatches are how many are served at the same time.
	maxRequests, maxWatches = 200, 1000
	// requestTime is how long a request may take that is no watch. Package serve has a limit
	// as well, which ends only the connection and not the work.
	requestTime = 8 * time.Second
	// patience is how long a watcher may take to read an event, or all that is there at first.
	patience = 10 * time.Second
)

// room is for so many requests at the same time, a quarter of them by one user. So one user
// who opens watches without end does not stop the garbage collector's.
type room struct {
	size   int
	mu     sync.Mutex
	total  int
	ofUser map[string]int
}

func newRoom(size int) *room { return &room{size: size, ofUser: map[string]int{}} }

// enter returns an error if there is no room, else what to call when the request is over.
func (r *room) enter(user string) (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.total == r.size || r.ofUser[user] == r.size/4 {
		return nil, apierrors.NewTooManyRequests("too many requests at once, try again", 1)
	}
	r.total++
	r.ofUser[user]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.total--
		if r.ofUser[user]--; r.ofUser[user] == 0 {
			delete(r.ofUser, user)
		}
	}, nil
}

// readBody reads what a client sends.
func readBody(w *answerWriter, r *request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	if err != nil {
		return nil, badRequest("read the body: %v", err)
	}
	return body, checkDepth(body)
}

func checkDepth(body []byte) error {
	depth := 0
	for decoder := json.NewDecoder(bytes.NewReader(body)); depth <= maxDepth; {
		token, err := decoder.Token()
		if err != nil {
			return nil // The end, or no JSON, as the next one to read it will say.
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return badRequest("the body nests deeper than %d levels", maxDepth)
}
