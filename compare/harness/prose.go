package main

import (
	"cmp"
	"strings"

	"example.com/byhand/compare/peers"
)

// section is a part of the page: a table of what a filter lets through.
type section struct {
	title, text string
	// filter and rows are a filter and a projection of package benchproc: what is
	// shown, and what tells the lines apart. The last of rows is who was measured, in the
	// order in which they are shown.
	filter string
	rows   []string
	// units are the columns. Those that are compared have one more, the difference from the
	// first line.
	units, compared []string
}

var byPeer = "/peer@(" + strings.Join(peerNames(), " ") + ")"

func peerNames() (names []string) {
	for _, p := range peers.All() {
		names = append(names, p.Name)
	}
	return names
}

var coldStart = section{title: "Cold start", text: aboutColdStart, filter: ".name:ColdStart", rows: []string{"/foos@num", byPeer},
	units:    []string{ratio(perSecond), ratio(restPerSecond), ratio(cpuSeconds), ratio(serverSeconds)},
	compared: []string{ratio(perSecond), ratio(restPerSecond), ratio(cpuSeconds)}}

var sections = []section{
	coldStart,
	{title: "Cold start, in figures", text: aboutColdFigures, filter: ".name:ColdStart", rows: []string{"/foos@num", byPeer},
		units: []string{perSecond, restPerSecond, writesEach, conflicts, eventsEach, cpuSeconds, serverSeconds, peakMemory}},
	{title: "One Foo, alone and behind a backlog", text: aboutBacklog, filter: ".name:Backlog", rows: []string{"/foos@num", byPeer},
		units: []string{aloneP50, aloneP99, p50, p99}, compared: []string{aloneP50, p50}},
	{title: "Cache", text: aboutCache, filter: ".name:CacheSync", rows: []string{"/foos@num", byPeer},
		units: []string{ratio("sec/op"), ratio(cpuSeconds), "sec/op", cpuSeconds, peakMemory, memory}, compared: []string{peakMemory}},
}

// heading is what stands above a column.
func heading(name string) string {
	return cmp.Or(map[string]string{
		"peer": "program", "foos": "Foos", "name": "call",
		perSecond: "Foos/s", restPerSecond: "Foos/s until the last write", writesEach: "writes/Foo", eventsEach: "Events/Foo",
		cpuSeconds: "CPU time", serverSeconds: "CPU time of API server and etcd", peakMemory: "peak RSS", memory: "RSS then",
		aloneP50: "p50 alone", aloneP99: "p99 alone", p50: "p50 behind a backlog", p99: "p99 behind a backlog", "sec/op": "time",
		ratio(perSecond): "Foos/s ÷ base", ratio(restPerSecond): "until the last write ÷ base", ratio(cpuSeconds): "CPU time ÷ base",
		ratio(serverSeconds): "CPU time of API server and etcd ÷ base", ratio("sec/op"): "time ÷ base",
	}[name], name)
}

// The sentences of the page. No figure stands in them: figures come from raw.txt.

const introduction = "The Foo controller in three forms, each given the same work: by hand (`byhand`, this repository), generated (`sample-controller`, Kubernetes' own example), and on a framework (`controller-runtime`). " +
	"[The page beside this folder](../README.md) walks through their code. " +
	"`floor` is no controller: a loop that sends the two writes that each Foo needs and nothing else. `floor-watch` also holds the two watches that every controller needs and discards their events.\n\n" +
	"`byhand`, `sample-controller` and `controller-runtime` run with their defaults. [Method](#method) says what `-tuned` changes.\n\n" +
	"`make compare` writes this page from [`raw.txt`](raw.txt), and nothing on it is typed by hand. [benchstat](https://pkg.go.dev/golang.org/x/perf/cmd/benchstat) reads the same file: `benchstat -col /peer -filter .name:ColdStart raw.txt`. " +
	"The statistics are benchstat's: medians, with a confidence interval of at least 90% from five rounds on; differences from the first line, by the Mann-Whitney U test, significant at p ≤ 0.05. Fewer than four rounds cannot show a difference.\n"

const aboutColdStart = "The controller starts when all Foos exist and nothing else does. The clock runs from the start of the process until the last Foo has a Deployment and a status. " +
	"Each run stands between two runs of the base, `floor-watch`, and each figure is divided by the mean of the base's two: a machine that is slow for a minute slows both. " +
	"`sample-controller` writes each status twice, and the clock stops after the first time. \"Until the last write\" includes the second; the end is polled every half second and taken as early as it can have been. " +
	"CPU time is until nothing more is written.\n\n" +
	"![Cold start: Foos per second, of the base](" + pictureFile + ")"

const aboutColdFigures = "The same runs. These figures vary with the machine's speed from minute to minute: compare the ratios. " +
	"The API server counts the writes of Foos and Deployments, refused ones included, until the writes stop. CPU time and memory are the controller's own."

const aboutBacklog = "During a cold start, every 100 ms one more Foo is created. How long does it wait for its Deployment while thousands of others are in the queue? And when the queue is empty, 100 Foos more, one after the other? Behind a backlog it mostly waits for the API server, which is busy with one write per worker: `controller-runtime` as shipped has one worker, so that a single Foo waits less and all of them take longer."

const aboutCache = "How long until all Foos are in memory, and how much memory they take. There is nothing to reconcile: these Foos are being deleted, a finalizer keeps them, and they name no Deployment, so that `sample-controller` skips them. They have a status and `managedFields` as a controller leaves them. " +
	"Each run stands between two runs of the base, `byhand`. The time is from the start of the process to the log line that says that the caches are synced, CPU time is until then, the peak is of the whole run, \"RSS then\" is after the controller has looked at every Foo."

const method = `
## Method

- Each run of a controller has a new control plane, etcd and kube-apiserver v1.37.1 as separate processes with their default limits. Same flags, same credentials (a client certificate of a cluster administrator), loopback, TLS. etcd syncs every write to the disk.
- Times and processor times are compared by ratios: base, A, base, B, base, and so on, round after round, on the same machine, which does nothing else. A round gives one ratio for each program.
- One Foo is created through an API server. The Foos that a run begins with are copies of it with their own names and UIDs, written directly to etcd: that takes seconds for thousands, and each API server is as fresh for many as for few. What is created or changed while a controller works goes through the API server.
- The harness observes progress through watches of metadata alone, the same for all. It, the API server and etcd share the CPUs with the controller.
- After the measurement the harness reads the API server's request counters. Whether the work is right, [the judge](judge.md) says.
- Defaults: ` + "`byhand`" + ` is what ` + "`go run main.go`" + ` starts (8 workers, no compression), ` + "`sample-controller`" + ` is built unmodified from its module (2 workers, client-go's default of 5 requests a second), ` + "`controller-runtime`" + ` is the program in [` + "`framework/`" + `](../framework) (1 worker).
- Tuned: 16 workers each, and no compression, as kube-controller-manager has it: otherwise the API server compresses each event of a streaming list separately. ` + "`sample-controller-tuned`" + ` also has no limit of requests; ` + "`controller-runtime-tuned`" + ` keeps no managedFields in its cache and reads its own writes. The floors have 16 workers and no compression, too. ` + "`sample-controller`" + ` and ` + "`controller-runtime`" + ` as shipped have client-go's default, with compression.
- ` + "`sample-controller`" + ` as shipped is so slow by its own limit that it gets fewer Foos and one round. ` + "`controller-runtime`" + ` as shipped, and what takes minutes, has fewer rounds, too.

## What the numbers do not say

- How fast any of this is on your cluster. Here everything shares a few CPUs and one disk, and the floor moves with both; the ratios move less.
- What a real etcd would cost: with three members and a network between them each write takes longer, and more workers pay off.
- What happens beside a deployment controller, whose writes to each Deployment every controller has to follow.
- How good a controller is at anything else: this is one kind, one child, no finalizer, no webhook.
- What it takes to keep the code working for years.
`
