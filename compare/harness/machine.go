package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/internal/testkit/plane"
)

// aboutMachine describes where the measurements are made, in the keys of the Go
// benchmark format.
func aboutMachine(command string) (about []benchfmt.Config) {
	kibibytes, _ := strconv.Atoi(firstOf("/proc/meminfo", `MemTotal: +(\d+) kB`))
	for _, pair := range [][2]string{
		{"goos", runtime.GOOS}, {"goarch", runtime.GOARCH}, {"go", strings.TrimPrefix(runtime.Version(), "go")},
		{"cpu", firstOf("/proc/cpuinfo", `model name\s*: (.*)`)}, {"cores", strconv.Itoa(runtime.NumCPU())}, {"memory", fmt.Sprintf("%.0f GiB", float64(kibibytes)/(1<<20))},
		{"control-plane", plane.Bare}, {"command", command},
	} {
		about = append(about, benchfmt.Config{Key: pair[0], Value: []byte(pair[1]), File: true})
	}
	return about
}

// firstOf returns what a pattern captures in a file, "" if there is nothing.
func firstOf(file, pattern string) string {
	text, _ := os.ReadFile(file)
	if match := regexp.MustCompile(pattern).FindSubmatch(text); match != nil {
		return string(match[1])
	}
	return ""
}
