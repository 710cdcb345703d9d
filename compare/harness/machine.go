package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/plane"
)

// aboutMachine describes where the measurements are made, in the keys of the Go
// benchmark format.
func aboutMachine(command string) (about []benchfmt.Config, err error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	cpus, err := proc.CPUInfo()
	if err != nil || len(cpus) == 0 {
		return nil, fmt.Errorf("no CPU in /proc/cpuinfo (%v)", err)
	}
	memory, err := proc.Meminfo()
	if err != nil || memory.MemTotalBytes == nil {
		return nil, fmt.Errorf("no memory in /proc/meminfo (%v)", err)
	}
	for _, pair := range [][2]string{
		{"goos", runtime.GOOS}, {"goarch", runtime.GOARCH}, {"go", strings.TrimPrefix(runtime.Version(), "go")},
		{"cpu", cpus[0].ModelName}, {"cores", strconv.Itoa(runtime.NumCPU())}, {"memory", fmt.Sprintf("%.0f GiB", float64(*memory.MemTotalBytes)/(1<<30))},
		{"control-plane", plane.Bare}, {"method", "each run between two runs of a base"}, {"command", command},
	} {
		about = append(about, benchfmt.Config{Key: pair[0], Value: []byte(pair[1]), File: true})
	}
	return about, nil
}
