// Package quiet hides log output, and prints it only with a failed test.
package quiet

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// Context returns a context whose log becomes part of the test's output if the test fails. It is never
// canceled, and log lines after the test's end are lost.
func Context(t testing.TB) context.Context {
	t.Helper()
	kept := &log{}
	t.Cleanup(func() {
		if text := kept.text(); t.Failed() && text != "" {
			t.Logf("logged meanwhile:\n%s", text)
		}
	})
	return klog.NewContext(context.Background(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(kept))))
}

// log is a Writer for several goroutines.
type log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(line)
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}
