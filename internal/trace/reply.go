package trace

import (
	"bytes"
	"io"
	"sync"
)

// replyLimit is how much of an answer is kept to be read.
const replyLimit = 4 << 20

// reply calls done once, with what was read, when the body ends or is closed.
type reply struct {
	io.ReadCloser
	keep int
	kept bytes.Buffer
	read int64
	once sync.Once
	done func(body []byte, read int64)
}

// expect has the body kept, as far as it is not too long. length is the server's
// word for it, negative if it says nothing.
func (r *reply) expect(length int64) {
	r.keep = replyLimit
	r.kept.Grow(int(min(max(length, 0), replyLimit)))
}

func (r *reply) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.read += int64(n)
	if r.kept.Len()+n <= r.keep {
		r.kept.Write(p[:n])
	} else {
		// A part of an answer is no object.
		r.keep = 0
		r.kept = bytes.Buffer{}
	}
	if err != nil {
		r.finish()
	}
	return n, err
}

func (r *reply) Close() error {
	r.finish()
	return r.ReadCloser.Close()
}

func (r *reply) finish() { r.once.Do(func() { r.done(r.kept.Bytes(), r.read) }) }
