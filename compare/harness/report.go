package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rawFile and pageFile are the names of the measurements and of the page.
const rawFile, pageFile = "raw.txt", "README.md"

// writePage makes the page and its pictures of the measurements in a folder.
func writePage(dir string) error {
	in, err := os.Open(filepath.Join(dir, rawFile))
	if err != nil {
		return err
	}
	f, err := readRaw(in, rawFile)
	if err := errors.Join(err, in.Close()); err != nil {
		return err
	}
	pictures, err := f.pictures()
	if err != nil {
		return err
	}
	for _, p := range pictures {
		if err := os.WriteFile(filepath.Join(dir, p.file), p.svg, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, pageFile), []byte(f.page(pictures)), 0o644)
}

// page is the text of the page. It says only what was measured.
func (f *figures) page(pictures []picture) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Side by side: the numbers\n\n%s\n%s\n", introduction, f.machine())
	for _, s := range f.sections() {
		tables := strings.Join(slices.DeleteFunc(s.tables, func(table string) bool { return table == "" }), "\n")
		if tables == "" {
			continue
		}
		fmt.Fprintf(&out, "## %s\n\n%s\n\n", s.title, s.text)
		for _, p := range pictures {
			if p.file == s.picture {
				fmt.Fprintf(&out, "![%s](%s)\n\n", p.title, p.file)
			}
		}
		fmt.Fprintln(&out, tables)
	}
	return out.String() + method
}

// section is a part of the page. Without tables it is left out.
type section struct {
	title, text, picture string
	tables               []string
}

func (f *figures) sections() []section {
	return []section{
		{"In short", aboutSummary, "", []string{shown("", f.summary())}},
		{"Cold start", aboutColdStart, "throughput.svg",
			f.each("ColdStart", "%s Foos", func(n int) *table { return f.speeds("ColdStart", n, true) })},
		{"More workers, fewer workers", aboutWorkers, "", f.each("ColdStart", "%s Foos", f.crewTable)},
		{"Every Foo changed", aboutChange, "", f.each("Change", "%s Foos", func(n int) *table { return f.speeds("Change", n, false) })},
		{"Every Deployment deleted", aboutDelete, "", f.each("Delete", "%s Foos", func(n int) *table { return f.speeds("Delete", n, false) })},
		{"Behind a backlog", aboutBacklog, "backlog.svg", slices.Concat(
			f.each("Backlog/foo=new", "A new Foo, behind %s others", func(n int) *table { return f.waitsTable("Backlog/foo=new", n) }),
			f.each("Backlog/foo=changed", "A changed Foo, behind %s others", func(n int) *table { return f.waitsTable("Backlog/foo=changed", n) }))},
		{"One Foo at a time", aboutLatency, "",
			f.each("Latency", "Beside %s Foos that have all they want", func(n int) *table { return f.waitsTable("Latency", n) })},
		{"Idle", aboutIdle, "", f.each("Idle", "%s Foos", f.idleTable)},
		{"Cache", aboutCache, "memory.svg", append(f.each("CacheSync", "%s Foos", f.cacheTable), shown("Each Foo more", f.bytesTable()))},
		{"Failover", aboutFailover, "", []string{shown("", f.failoverTable())}},
		{"Client calls", aboutCalls, "", f.goTables("client")},
		{"DeepCopy", aboutCopies, "", f.goTables("copy")},
		{"What a reader carries", aboutCarry, "", []string{shown("", f.carryTable())}},
	}
}

// shown is a table with its title, or nothing.
func shown(title string, t *table) string {
	if len(t.rows) == 0 {
		return ""
	}
	if title != "" {
		title = "### " + title + "\n\n"
	}
	return title + t.markdown()
}

// each shows a table for each size that the fast peers were measured with.
func (f *figures) each(what, title string, make func(n int) *table) []string {
	var all []string
	for _, n := range f.mainSizes(what) {
		all = append(all, shown(fmt.Sprintf(title, whole(float64(n))), make(n)))
	}
	return all
}

// goTables shows the Go benchmarks whose names end with this key.
func (f *figures) goTables(lastKey string) []string {
	var all []string
	for _, prefix := range f.prefixes(lastKey) {
		all = append(all, shown(title(prefix), f.goTable(prefix, lastKey)))
	}
	return all
}

// machine is where and how the measurements were made.
func (f *figures) machine() string {
	var rows []string
	for _, pair := range [][2]string{{"CPU", "cpu"}, {"cores", "cores"}, {"memory", "memory"}, {"kernel", "kernel"}, {"Go", "go"},
		{"control plane", "control-plane"}, {"etcd's fsync", "etcd-fsync"}, {"one fsync takes", "fsync-time"}} {
		if value := f.where(pair[1]); value != "" {
			rows = append(rows, fmt.Sprintf("| %s | %s |", pair[0], value))
		}
	}
	if len(f.commands) > 0 {
		// A bar ends a cell, even in code.
		commands := strings.ReplaceAll(strings.Join(f.commands, "`, then `"), "|", `\|`)
		rows = append(rows, fmt.Sprintf("| command | `%s`, in `compare/` |", commands))
	}
	table := "| | |\n|---|---|\n" + strings.Join(rows, "\n") + "\n"
	if f.where("control-plane") == "all" {
		table += "\n" + aboutOthers + "\n"
	}
	return table
}
