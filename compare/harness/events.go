package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"
)

// events opens watches, makes n events, and reports how many events are heard in a second
// until each watcher has heard all. The creation of the objects is included.
func (l *load) events(ctx context.Context, path string, n int, create func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	version, err := l.version(ctx, path)
	if err != nil {
		return err
	}
	var streams []io.ReadCloser
	defer func() {
		for _, stream := range streams {
			_ = stream.Close()
		}
	}()
	for range watchers {
		response, err := l.ask(ctx, http.MethodGet, path+"?watch=true&resourceVersion="+version, "")
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		streams = append(streams, response.Body)
	}
	seconds, cpu, err := l.timed(func() error {
		group, ctx := errgroup.WithContext(ctx)
		for _, stream := range streams {
			group.Go(func() error { return hear(stream, n) })
		}
		group.Go(func() error { return inParallel(ctx, together, n, create) })
		return group.Wait()
	})
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	heard := float64(n * watchers)
	return l.report(fmt.Sprintf("APIServer/do=watch/clients=%d/server=%s", watchers, l.Name), n*watchers,
		value(seconds/heard, "sec/op"), value(heard/seconds, requestsPerSecond), value(cpu/heard, cpuEach))
}

// hear reads n events of a stream: a line is one.
func hear(stream io.Reader, n int) error {
	lines := bufio.NewReader(stream)
	for range n {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if !strings.Contains(line, `"ADDED"`) {
			return fmt.Errorf("heard %s", line)
		}
	}
	return nil
}

// version is the resourceVersion from which a watch hears only of what comes.
func (l *load) version(ctx context.Context, path string) (string, error) {
	response, err := l.ask(ctx, http.MethodGet, path+"?limit=1", "")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	err = json.NewDecoder(response.Body).Decode(&list)
	return list.Metadata.ResourceVersion, err
}
