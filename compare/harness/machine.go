package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

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
		{"control-plane", plane.Bare}, {"command", command}, {"commit", commit()}, {"date", time.Now().UTC().Format(time.DateTime)},
	} {
		about = append(about, benchfmt.Config{Key: pair[0], Value: []byte(pair[1]), File: true})
	}
	return about
}

// commit is what git says of the source, "unknown" without it.
func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// firstOf returns what a pattern captures in a file, "" if there is nothing.
func firstOf(file, pattern string) string {
	text, _ := os.ReadFile(file)
	if match := regexp.MustCompile(pattern).FindSubmatch(text); match != nil {
		return string(match[1])
	}
	return ""
}
