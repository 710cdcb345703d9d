package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// result is what a way costs.
type result struct {
	// objects are in memory. The handler was called so often (events) for an object that it
	// works on, the first list included.
	objects, events int
	// bytes are those of the answers. heap is what lives more than before. peak is that of the
	// process, with the ways before this one.
	bytes, heap, peak int64
	synced            time.Duration
}

// measure keeps a cache until its handler has heard the first list, and then as many events as
// o.events. It prints these.
func measure(ctx context.Context, config *rest.Config, w way, o options, out io.Writer) (r result, err error) {
	config = rest.CopyConfig(config)
	config.DisableCompression = true // Bytes are those of the objects.
	count := &counter{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { count.RoundTripper = next; return count })
	secrets := typedcorev1.NewForConfigOrDie(config).Secrets(o.namespace)
	before, began := live(), time.Now()
	defer func() { r.bytes, r.peak = count.bytes.Load(), peak() }()
	switch w.name {
	case "get":
		_, err = secrets.Get(ctx, o.secret, metav1.GetOptions{})
		return result{synced: time.Since(began)}, err
	case "shard":
		// A server without the gate ignores the selector and sends everything: then the handler
		// must choose, or each process would work on each object. The answer to a list repeats a
		// selector that was obeyed; nothing in a stream does.
		list, err := secrets.List(ctx, metav1.ListOptions{Limit: 1, ShardSelector: o.shard.String()})
		if err != nil {
			return r, err
		}
		if w.inHandler = list.GetShardInfo() == nil; w.inHandler {
			fmt.Fprintln(out, "shard: the server's gate ShardedListAndWatch is off: it sends everything, and the handler chooses")
		}
	}

	// Reflector → store → this handler.
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait() // What it holds is not the next way's.
	defer cancel(nil)
	heard := make(chan string)
	handle := func(event string, obj any) {
		if w.inHandler && !has(o.shard, obj) {
			return
		}
		key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		select {
		case heard <- event + " " + key:
		case <-ctx.Done():
		}
	}
	informer := w.informer(config, o)
	_ = informer.SetTransform(w.transform) // These two fail on an informer that runs.
	// A Reflector tries again for ever, also without the right to list. A measurement ends.
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		if informer.HasSynced() {
			cache.DefaultWatchErrorHandler(ctx, r, err)
		} else {
			cancel(err)
		}
	})
	handler, _ := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { handle("ADDED", obj) },
		UpdateFunc: func(_, obj any) { handle("MODIFIED", obj) },
		DeleteFunc: func(obj any) { handle("DELETED", obj) },
	})
	running.Go(func() { informer.RunWithContext(ctx) })

	// In sync means that the handler was called for the whole list. The store is full before.
	synced := handler.HasSyncedChecker().Done()
	for more := o.events; synced != nil || more > 0; {
		select {
		case event := <-heard:
			r.events++
			if synced == nil {
				// Quoted: whoever sends a name could write to the terminal.
				fmt.Fprintf(out, "%s: %s\n", w.name, strings.Trim(strconv.QuoteToASCII(event), `"`))
				more--
			}
		case <-synced:
			synced, r.synced = nil, time.Since(began)
			r.heap, r.objects = live()-before, len(informer.GetStore().ListKeys())
			if more > 0 {
				fmt.Fprintf(out, "%s: %d objects, now waiting for %d events\n", w.name, r.objects, more)
			}
		case <-ctx.Done():
			return r, context.Cause(ctx)
		}
	}
	return r, nil
}

// live returns the bytes of the heap that are in use.
func live() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // What a sync.Pool holds outlives one.
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// peak is the most memory that this process had, in bytes; 0 where there is no Linux to say so. The
// Maxrss of a process that has ended is no such number: it begins with the peak of the parent.
func peak() (n int64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "\nVmHWM:")
	_, _ = fmt.Sscanf(after, "%d kB", &n)
	return n << 10
}

// counter counts the bytes of answers.
type counter struct {
	http.RoundTripper
	bytes atomic.Int64
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(request)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(answer.Body, c), answer.Body}
	}
	return answer, err
}

func (c *counter) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return len(p), nil
}
