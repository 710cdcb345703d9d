package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/sync/errgroup"

	"example.com/byhand/compare/peers"
)

// load is an aggregated API server that answers, and who asks it.
type load struct {
	*process
	peers.APIServer
	client *http.Client
	root   string // the URL of the server
	report func(name string, operations int, values ...benchfmt.Value) error
	// received is how many bytes the answers had.
	received atomic.Int64
}

// measure asks for everything, and reports. n is how many objects there are to be.
func (l *load) measure(ctx context.Context, n int) error {
	for resource, object := range l.Needs {
		if err := l.do(ctx, http.MethodPost, "/"+resource, object); err != nil {
			return err
		}
	}
	path := "/namespaces/" + namespace + "/" + l.Resource
	created := 0
	create := func(ctx context.Context, i int) error {
		return l.do(ctx, http.MethodPost, path, l.Object(objectName(created+i)))
	}
	get := func(ctx context.Context, i int) error {
		return l.do(ctx, http.MethodGet, path+"/"+objectName(i%n), "")
	}
	list := func(ctx context.Context, _ int) error { return l.do(ctx, http.MethodGet, path, "") }

	idle := l.rss()
	alone := n / 5
	if err := l.requests(ctx, "create", 1, alone, create); err != nil {
		return err
	}
	created = alone
	if err := l.requests(ctx, "create", together, n-alone, create); err != nil {
		return err
	}
	created = n
	full := l.rss()
	if err := l.requests(ctx, "get", together, 2*n, get); err != nil {
		return err
	}
	if err := l.requests(ctx, "list", 4, n/10, list); err != nil {
		return err
	}
	if err := l.events(ctx, path, n/5, create); err != nil {
		return err
	}
	return l.report(fmt.Sprintf("APIServerMemory/objects=%d/server=%s", n, l.Name), 1,
		value(idle, idleMemory), value(full, memory), value(float64(l.peakRSS()), peakMemory))
}

// rss is what the server holds now, in bytes. 0: it has ended, which the next request finds.
func (l *load) rss() float64 {
	status, err := l.Status()
	if err != nil {
		return 0
	}
	return float64(status.VmRSS)
}

// objectName has the same length for each number.
func objectName(i int) string { return fmt.Sprintf("object-%06d", i) }

// requests sends n requests, one for each client at a time, and reports how many are answered
// in a second and how long one waits.
func (l *load) requests(ctx context.Context, what string, clients, n int, send func(ctx context.Context, i int) error) error {
	waited := make([]float64, n)
	l.received.Store(0)
	seconds, cpu, err := l.timed(func() error {
		return inParallel(ctx, clients, n, func(ctx context.Context, i int) error {
			begin := time.Now()
			err := send(ctx, i)
			waited[i] = time.Since(begin).Seconds()
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	values := append(waits(waited), value(float64(n)/seconds, requestsPerSecond), value(cpu/float64(n), cpuEach), value(float64(l.received.Load())/float64(n), answerSize))
	return l.report(fmt.Sprintf("APIServer/do=%s/clients=%d/server=%s", what, clients, l.Name), n, values...)
}

// inParallel calls do n times, so many at once, until one call fails.
func inParallel(ctx context.Context, atOnce, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// timed returns how long something takes, and the CPU time of the server meanwhile.
func (l *load) timed(do func() error) (seconds, cpu float64, err error) {
	cpuBefore, err := l.CPU()
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := do(); err != nil {
		return 0, 0, err
	}
	took := time.Since(begin)
	cpuAfter, err := l.CPU()
	return took.Seconds(), (cpuAfter - cpuBefore).Seconds(), err
}

// answers waits until the server lists the objects to the visitor.
func (l *load) answers(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := l.do(limited, http.MethodGet, "/namespaces/"+namespace+"/"+l.Resource, "")
		if err == nil {
			return nil
		}
		if paused := l.pause(limited, time.After(20*time.Millisecond)); paused != nil {
			return fmt.Errorf("%s does not answer: %w", l.Name, errors.Join(paused, err))
		}
	}
}

// do sends a request and reads the answer to its end.
func (l *load) do(ctx context.Context, method, path, body string) error {
	response, err := l.ask(ctx, method, path, body)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, response.Body)
	l.received.Add(n)
	return errors.Join(err, response.Body.Close())
}

// ask sends a request below the group and version, as the front proxy, for the visitor. An
// answer that is no success is an error.
func (l *load) ask(ctx context.Context, method, path, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, l.root+"/apis/"+l.Group+"/"+l.Version+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "harness",
		"X-Remote-User": visitor, "X-Remote-Group": "system:authenticated",
	} {
		request.Header.Set(name, value)
	}
	response, err := l.client.Do(request)
	if err != nil || response.StatusCode/100 == 2 {
		return response, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return nil, errors.Join(fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text), err)
}
