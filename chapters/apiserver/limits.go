package main

import (
	"bytes"
	"cmp"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What one client may take, so that no other goes without. storage.go limits what is stored.
const (
	// maxBody is the size of what a client may send, and maxBraces how many { and [ it may have, so
	// how deep it may nest: a merge of thousands of levels takes seconds. maxMistakes is how many
	// mistakes the answer names.
	maxBody, maxBraces, maxMistakes = 64 << 10, 1000, 20
	// maxRequests and maxWatches are how many are served at the same time.
	maxRequests, maxWatches = 200, 1000
	// requestTime is how long a request may take that is no watch.
	requestTime = 8 * time.Second
	// patience is how long a client may take to read an event, or all that is there at first.
	patience = 10 * time.Second
)

// room is for so many requests at the same time, a quarter of them by one user: watches without end
// do not stop the garbage collector's.
type room struct {
	size   int
	mu     sync.Mutex
	total  int
	ofUser map[string]int
}

func newRoom(size int) *room { return &room{size: size, ofUser: map[string]int{}} }

// enter returns what to call when the request is over.
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

// readBody reads what a client sends, of one of these types. After 415 kubectl sends another one.
func readBody(w http.ResponseWriter, r *request, types ...string) ([]byte, error) {
	if !slices.Contains(types, contentType(r)) {
		return nil, refusal(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "the body must be of type "+strings.Join(types, " or "))
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, badRequest("read the body: %v", err)
	}
	if n := bytes.Count(body, []byte("{")) + bytes.Count(body, []byte("[")); n > maxBraces {
		return nil, badRequest("the body has %d times { or [, limit is %d", n, maxBraces)
	}
	return body, nil
}

func contentType(r *request) string {
	mediaType, _, _ := mime.ParseMediaType(cmp.Or(r.Header.Get("Content-Type"), runtime.ContentTypeJSON))
	return mediaType
}
