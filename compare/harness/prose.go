package main

import (
	"cmp"
	"strings"
)

// section is a part of the page: what was measured in a scenario.
type section struct {
	scenario, title, text string
	// what and who are the headings of the first two columns.
	what, who string
	// ratios are the units of the table of ratios. The one of figures has counts, too.
	ratios, counts []string
}

var sections = []section{
	{"ColdStart", "Cold start", aboutColdStart, "Foos", "program", []string{perSecond, restPerSecond, cpuEach, serverEach, peakMemory}, []string{writesEach, conflicts, eventsEach}},
	{"Backlog", "One Foo, alone and behind a backlog", aboutBacklog, "Foos", "program", []string{aloneP50, aloneP99, p50, p99}, nil},
	{"CacheSync", "Cache", aboutCache, "Foos", "program", []string{"sec/op", cpuSeconds, serverSeconds, peakMemory, liveMemory}, nil},
	{"APIServer", "An API server of one's own", aboutAPIServer, "request", "kind", []string{"sec/op"}, nil},
}

var goals = []goal{
	{scenario: "ColdStart", unit: restPerSecond, of: "sample-controller-tuned", sign: "≥", bound: 1.15},
	{scenario: "ColdStart", unit: restPerSecond, of: "controller-runtime-tuned", sign: "≥", bound: 1.15},
	{scenario: "ColdStart", unit: perSecond, of: "sample-controller-tuned", sign: "≥", bound: 0.95},
	{scenario: "ColdStart", unit: cpuEach, of: "floor-watch", sign: "≤", bound: 1.35},
	{scenario: "ColdStart", unit: cpuEach, of: "sample-controller-tuned", sign: "≤", bound: 1},
	{scenario: "ColdStart", unit: cpuEach, of: "controller-runtime-tuned", sign: "≤", bound: 1},
	{scenario: "ColdStart", unit: serverEach, of: "sample-controller-tuned", sign: "≤", bound: 1},
	{scenario: "ColdStart", unit: serverEach, of: "controller-runtime-tuned", sign: "≤", bound: 1},
	{scenario: "ColdStart", unit: peakMemory, of: "sample-controller-tuned", sign: "≤", bound: 1,
		why: "Peak memory: more than half of it is the program's own file. Without that `byhand` takes less than `sample-controller`: 22.1 MB against 22.5 (`RssAnon` in `/proc/PID/status`). Its file has the metrics, the election and the page in it."},
	{scenario: "ColdStart", unit: peakMemory, of: "controller-runtime-tuned", sign: "≤", bound: 1},
	{scenario: "CacheSync", unit: "sec/op", of: "sample-controller", sign: "≤", bound: 1,
		why: "Time to fill the cache: in profiles of both programs 87 % of the processor time is client-go's, which decodes one event after the other (`StreamWatcher.receive`). Before `byhand` says that its cache is filled it has called its handler for each Foo, which takes 2 % of the time; `sample-controller` calls its own later."},
	{scenario: "CacheSync", unit: liveMemory, of: "sample-controller", fewest: true, sign: "≤", bound: 1},
	{scenario: "CacheSync", unit: liveMemory, of: "controller-runtime-tuned", fewest: true, sign: "≤", bound: 1},
}

// heading is what stands above a column: of a ratio what its unit is called.
func heading(name string) string {
	name = strings.TrimSuffix(name, ratio(""))
	return cmp.Or(map[string]string{
		perSecond: "Foos/s to the first status", restPerSecond: "Foos/s to the last write", writesEach: "writes/Foo", eventsEach: "Events/Foo",
		cpuSeconds: "CPU time", cpuEach: "CPU time/Foo", serverSeconds: "CPU time of API server and etcd", serverEach: "CPU time/Foo of API server and etcd", peakMemory: "peak memory", liveMemory: "live heap",
		aloneP50: "p50 alone", aloneP99: "p99 alone", p50: "p50 behind a backlog", p99: "p99 behind a backlog", "sec/op": "time",
	}[name], name)
}

// The sentences of the page. Its figures come from raw.txt, but for those of a reason.

const introduction = "The Foo controller in three forms, each given the same work: by hand (`byhand`, this repository), generated (`sample-controller`, Kubernetes' own example), and on a framework (`controller-runtime`). " +
	"[The page beside this folder](../README.md) walks through their code. " +
	"`floor` is no controller: a loop that sends the two writes that each Foo needs and nothing else. `floor-watch` also holds the two watches that every controller needs and discards their events.\n\n" +
	"`byhand`, `sample-controller` and `controller-runtime` run with their defaults. [Method](#method) says what `-tuned` changes.\n\n" +
	"A machine that other programs share is fast in one minute and slow in the next. So each run stands between two runs of a base, and a figure here is divided by the mean of the base's two: a ratio, the median of all rounds, and behind it the confidence interval of that median, at 90 % or more. The figures themselves are folded up below.\n\n" +
	"`make compare` writes this page from [`raw.txt`](raw.txt), and nothing on it is typed by hand. [benchstat](https://pkg.go.dev/golang.org/x/perf/cmd/benchstat) reads the same file: `benchstat -col /peer -filter .name:ColdStart raw.txt`.\n"

const aboutGoals = "What this controller is to reach. Each ratio is computed round by round, from the two programs' ratios to the base. A goal is reached by the median; where the interval holds the bound, or there are too few rounds for one, it is not certain."

const aboutColdStart = "The controller starts when all Foos exist and nothing else does. The clock runs from the start of the process until the last Foo has a Deployment and a first status, and on until the last write: " +
	"`sample-controller` writes each status twice. The end of the writes is polled every half second and taken as early as it can have been. " +
	"CPU time is until nothing more is written. The base is `floor-watch`.\n\n" +
	"![Cold start: Foos per second, of the base](" + pictureFile + ")\n\n" +
	"The API server counts the writes of Foos and Deployments, refused ones included, until the writes stop. CPU time and memory are the controller's own."

const aboutBacklog = "During a cold start, every 50 ms one more Foo is created. How long does it wait for its Deployment while hundreds of others are in the queue? And when the queue is empty, 100 Foos more, one after the other? The base is `byhand`. Behind a backlog a Foo mostly waits for the API server, which is busy with one write per worker: `controller-runtime` as shipped has one worker, so that a single Foo waits less and all of them take longer."

const aboutCache = "How long until all Foos are in memory, and how much memory they take. There is nothing to reconcile: these Foos are being deleted, a finalizer keeps them, and they name no Deployment, so that `sample-controller` skips them. They have a status and `managedFields` as a controller leaves them. " +
	"The base is `byhand`. The time is from the start of the process to the log line that says that the caches are synced, CPU time is until then, the peak is of the whole run. The live heap is what is left after a collection of garbage, when the controller has looked at every Foo: `sample-controller` looks at a thousand a second, so that of 100,000 most are still in its queue."

const aboutAPIServer = "The same Toppings, served by the API server for a CustomResourceDefinition, and passed on by it to [the API server of the chapter](../../chapters/apiserver/README.md), which keeps them in memory and asks for each request whether the user may send it. One client, one request after the other, by turns; a list has all Toppings. The command alone: `make apiserver-cost`."

const failover = `
## Failover

How long nothing is reconciled when the leader ends, is killed, freezes, or loses the network, five times each: ` + "`make failover FAILOVERS=5`" + ` prints the medians, and fails if anything is written twice or lost.
`

const method = `
## Method

- Each run of a controller that writes has a new control plane, etcd and kube-apiserver v1.37.1 as separate processes with their default limits. Same flags, same credentials (a client certificate of a cluster administrator), loopback, TLS. etcd syncs every write to the disk.
- Base, A, base, B, base, and so on, round after round, on the same machine, which does nothing else. A round gives one ratio for each program.
- One Foo is created through an API server. The Foos that a run begins with are copies of it with their own names and UIDs, written directly to etcd: that takes seconds for thousands, and each API server is as fresh for many as for few. What is created or changed while a controller works goes through the API server.
- The harness observes progress through watches of metadata alone, the same for all. It, the API server and etcd share the CPUs with the controller.
- After the measurement the harness reads the API server's request counters. Whether the work is right, [the judge](judge.md) says.
- Defaults: ` + "`byhand`" + ` is what ` + "`go run main.go`" + ` starts (16 workers), ` + "`sample-controller`" + ` is built from its module as it is (2 workers, client-go's default of 5 requests a second), ` + "`controller-runtime`" + ` is the program in [` + "`framework/`" + `](../framework) (1 worker).
- Tuned: 16 workers, as the floors. ` + "`sample-controller-tuned`" + ` also has no limit of requests; ` + "`controller-runtime-tuned`" + ` keeps no managedFields in its cache and reads its own writes.
- ` + "`sample-controller`" + ` as shipped is so slow by its own limit that it gets fewer Foos and one round; ` + "`controller-runtime`" + ` as shipped gets one round, too. One round has no interval.
- Each program has one file more, [` + "`liveheap`" + `](../peers/liveheap/liveheap.go), which on a signal collects the garbage and says how much is left.
`

const limits = `
## What the numbers do not say

- How fast any of this is on your cluster. Here everything shares a few CPUs and one disk, and the floor moves with both; the ratios move less.
- What a real etcd would cost: with three members and a network between them each write takes longer, and more workers pay off.
- What happens beside a deployment controller, whose writes to each Deployment every controller has to follow.
- How good a controller is at anything else: this is one kind, one child, no finalizer, no webhook.
- What it takes to keep the code working for years.
`
