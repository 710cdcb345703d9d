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

type result struct {
	// objects is the number in memory. events counts the handler's calls for objects that it
	// works on, including the first list.
	objects, events int
	// bytes is the size of the responses. heap is the growth of the live heap. peak is the
	// process's maximum, including earlier ways.
	bytes, heap, peak int64
	synced            time.Duration
}

// measure runs a cache until its handler has received the first list, and then o.events more
// events, which it prints.
func measure(ctx context.Context, config *rest.Config, w way, o options, out io.Writer) (r result, err error) {
	config = rest.CopyConfig(config)
	config.DisableCompression = true // bytes are the objects' size
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
		// A server without the gate ignores the selector, so the handler must select. The response to a list
		// repeats an applied selector; a stream does not.
		list, err := secrets.List(ctx, metav1.ListOptions{Limit: 1, ShardSelector: o.shard.String()})
		if err != nil {
			return r, err
		}
		if w.inHandler = list.GetShardInfo() == nil; w.inHandler {
			fmt.Fprintln(out, "shard: the server's gate ShardedListAndWatch is off: it sends everything, and the handler selects")
		}
	}

	// Reflector → store → this handler.
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait() // this way's memory must not count for the next one
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
	_ = informer.SetTransform(w.transform) // these two only fail on a running informer
	// A Reflector retries forever, even without permission to list. A measurement fails instead.
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

	// In sync means that the handler was called for the whole list. The store has the list earlier.
	synced := handler.HasSyncedChecker().Done()
	for more := o.events; synced != nil || more > 0; {
		select {
		case event := <-heard:
			r.events++
			if synced == nil {
				// Quoted: control characters in a name could affect the terminal.
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

func live() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // objects in a sync.Pool survive the first collection
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// peak returns this process's maximum memory in bytes, or 0 on systems other than Linux. A child's
// Maxrss cannot be used: it starts with the parent's peak.
func peak() (n int64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "\nVmHWM:")
	_, _ = fmt.Sscanf(after, "%d kB", &n)
	return n << 10
}

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
