package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// aboutMachine describes where the measurements were made, in the keys of the Go
// benchmark format. It starts a control plane to see how etcd is run.
func (b *bench) aboutMachine(ctx context.Context, command string) (about []benchfmt.Config, err error) {
	s, err := b.clusters.up(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.down()) }()
	arguments, err := os.ReadFile(filepath.Join(s.state(), "kwok.yaml"))
	if err != nil {
		return nil, err
	}
	disk, err := syncTime(s.state())
	if err != nil {
		return nil, fmt.Errorf("time an fsync: %w", err)
	}
	fsync := "on"
	if strings.Contains(string(arguments), "--unsafe-no-fsync") {
		fsync = "off"
	}
	components := b.clusters.components
	if components == "" {
		components = "all"
	}
	for _, pair := range [][2]string{
		{"goos", runtime.GOOS}, {"goarch", runtime.GOARCH}, {"go", strings.TrimPrefix(runtime.Version(), "go")},
		{"cpu", firstMatch("/proc/cpuinfo", `(?m)^model name\s*: (.*)$`)}, {"cores", strconv.Itoa(runtime.NumCPU())},
		{"memory", totalMemory()}, {"kernel", firstMatch("/proc/sys/kernel/osrelease", `(.*)`)},
		{"control-plane", components}, {"etcd-fsync", fsync}, {"fsync-time", disk.Round(time.Microsecond).String()},
		{"command", command},
	} {
		if pair[1] != "" {
			about = append(about, benchfmt.Config{Key: pair[0], Value: []byte(pair[1]), File: true})
		}
	}
	return about, nil
}

// firstMatch returns what the pattern's group matches in a file, "" if there is none.
func firstMatch(file, pattern string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	match := regexp.MustCompile(pattern).FindSubmatch(content)
	if match == nil {
		return ""
	}
	return strings.TrimSpace(string(match[1]))
}

func totalMemory() string {
	kilobytes, err := strconv.Atoi(firstMatch("/proc/meminfo", `MemTotal:\s*(\d+) kB`))
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%.0f GiB", float64(kilobytes)/(1<<20))
}

// syncTime returns the median time of a small write that is forced to the disk on
// which etcd's data are: etcd does that before it answers a write.
func syncTime(dir string) (time.Duration, error) {
	file, err := os.CreateTemp(dir, "fsync-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	var all []time.Duration
	for range 100 {
		begin := time.Now()
		if _, err := file.Write(make([]byte, 2048)); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(begin))
	}
	return percentile(all, 50), nil
}
