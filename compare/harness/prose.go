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
	{"ColdStart", "Cold start", aboutColdStart, "Foos", "program", []string{perSecond, restPerSecond, cpuEach, serverEach, peakMemory}, []string{fileMemory, writesEach, conflicts, eventsEach}},
	{"Backlog", "One Foo, alone and behind a backlog", aboutBacklog, "Foos", "program", []string{aloneP50, aloneP99, p50, p99}, nil},
	{"CacheSync", "Cache", aboutCache, "Foos", "program", []string{"sec/op", cpuSeconds, serverSeconds, peakMemory, liveMemory}, nil},
	{"APIServer", "An API server of one's own", aboutAPIServer, "request", "kind", []string{"sec/op"}, nil},
}

var goals = []goal{
	{"ColdStart", "byhand-silent", "sample-controller-tuned-silent", restPerSecond, "≥", 1.15},
	{"ColdStart", "byhand-silent", "controller-runtime-tuned-silent", restPerSecond, "≥", 1},
	{"ColdStart", "byhand-silent", "sample-controller-tuned-silent", perSecond, "≥", 0.95},
	{"ColdStart", "byhand-silent", "floor-watch", cpuEach, "≤", 1.35},
	{"ColdStart", "byhand-silent", "sample-controller-tuned-silent", cpuEach, "≤", 1},
	{"ColdStart", "byhand-silent", "controller-runtime-tuned-silent", cpuEach, "≤", 1},
	{"ColdStart", "byhand-silent", "sample-controller-tuned-silent", serverEach, "≤", 1},
	{"ColdStart", "byhand-silent", "controller-runtime-tuned-silent", serverEach, "≤", 1},
	{"ColdStart", "byhand-silent", "sample-controller-tuned-silent", peakMemory, "≤", 1},
	{"ColdStart", "byhand-silent", "controller-runtime-tuned-silent", peakMemory, "≤", 1},
	{"CacheSync", "byhand", "sample-controller-tuned", "sec/op", "≤", 1},
	{"CacheSync", "byhand", "controller-runtime-tuned", "sec/op", "≤", 1},
	{"CacheSync", "byhand", "sample-controller-tuned", peakMemory, "≤", 1},
	{"CacheSync", "byhand", "controller-runtime-tuned", peakMemory, "≤", 1},
	{"CacheSync", "byhand", "sample-controller-tuned", liveMemory, "≤", 1},
	{"CacheSync", "byhand", "controller-runtime-tuned", liveMemory, "≤", 1},
}

// heading is what stands above a column: of a ratio what its unit is called.
func heading(name string) string {
	name = strings.TrimSuffix(name, ratio(""))
	return cmp.Or(map[string]string{
		perSecond: "Foos/s to the first status", restPerSecond: "Foos/s to the last write", writesEach: "writes/Foo", eventsEach: "Events/Foo",
		cpuSeconds: "CPU time", cpuEach: "CPU time/Foo", serverSeconds: "CPU time of API server and etcd", serverEach: "CPU time/Foo of API server and etcd", peakMemory: "peak memory", fileMemory: "of it the program", liveMemory: "live heap",
		aloneP50: "p50 alone", aloneP99: "p99 alone", p50: "p50 behind a backlog", p99: "p99 behind a backlog", "sec/op": "time",
	}[name], name)
}

// The sentences of the page. Its figures come from raw.txt.

const introduction = "The Foo controller in three forms: by hand (`byhand`, this repository), generated (`sample-controller`, Kubernetes' own example), and on a framework (`controller-runtime`: our own program on it, [`framework/`](../framework)). " +
	"[The page beside this folder](../README.md) walks through their code. " +
	"`floor` is no controller: a loop that sends the two writes that each Foo needs and nothing else. `floor-watch` also holds the two watches that every controller needs and discards their events.\n\n" +
	"The work is not the same in everything. `byhand` sends at most 10 Events a second and drops the others, so that they delay no write; the other two send theirs as they come, which takes requests and time of the API server. So the goals compare the programs that end in `-silent`, which send none. " +
	"`controller-runtime` and the floors leave the same objects as `byhand`. `sample-controller` does less and sends more: its status has no condition, no `observedGeneration` and no selector, it looks at the replicas alone and not at the rest of a Deployment, and it writes each status twice.\n\n" +
	"`byhand`, `sample-controller` and `controller-runtime` run with their defaults. [Method](#method) says what `-tuned` changes.\n\n" +
	"A machine that other programs share is fast in one minute and slow in the next. So each run stands between two runs of a base, and a figure here is divided by the mean of the base's two: a ratio, the median of all rounds of all sessions, and behind it the confidence interval of that median, at 90 % or more. The figures themselves are folded up below.\n\n" +
	"`make compare` adds a session to [`raw.txt`](raw.txt) and writes this page from it. [benchstat](https://pkg.go.dev/golang.org/x/perf/cmd/benchstat) reads the same file: `benchstat -col /peer -filter .name:ColdStart raw.txt`.\n"

const aboutGoals = "What this controller is to reach. Each ratio is computed round by round, from the two programs' ratios to the base. A goal is reached if the whole interval and the median of each session are on the right side of the bound, and not reached if all of them are on the other. Everything else is not certain. The last column is the same ratio for `floor-watch`, a loop that holds the two watches, sends the same writes as `byhand`, and does nothing else."

const aboutColdStart = "The controller starts when all Foos exist and nothing else does. The clock runs from the start of the process until the last Foo has a Deployment and a first status, and on until the last write: " +
	"`sample-controller` writes each status twice. The end of the writes is polled every half second and taken as early as it can have been. " +
	"CPU time is until nothing more is written. The base is `floor-watch`.\n\n" +
	"![Cold start: Foos per second, of the base](" + pictureFile + ")\n\n" +
	"The API server counts the writes of Foos and Deployments, refused ones included, until the writes stop, and the Events until then. Of `byhand`'s Events no more come later: what is too much is dropped. CPU time and memory are the controller's own. With so few Foos about half of the peak is pages of the program's file, which the figures say by themselves: `byhand` links what the official example has not, such as metrics, leader election and the page."

const aboutBacklog = "During a cold start, every 50 ms one more Foo is created. How long does it wait for its Deployment while hundreds of others are in the queue? And when the queue is empty, 100 Foos more, one after the other? The base is `byhand`. Behind a backlog a Foo mostly waits for the API server, which is busy with one write per worker: `controller-runtime` as shipped has one worker, so that a single Foo waits less and all of them take longer."

const aboutCache = "How long until all Foos are in memory, and how much memory they take. There is nothing to reconcile: these Foos are being deleted, a finalizer keeps them, and they name no Deployment, so that `sample-controller` skips them. They have a status and `managedFields` as a controller leaves them. " +
	"The base is `byhand`. The time is from the start of the process to the log line that says that the caches are synced. `byhand` and `sample-controller-tuned` look every 20 ms whether their handler was called for each Foo. `sample-controller` as shipped polls every 100 ms, and `controller-runtime` does so in several places, which cannot be changed from outside. CPU time is until then, the peak is of the whole run. The live heap is what is left after a collection of garbage, when the controller has looked at every Foo: `sample-controller` looks at a thousand a second, so that of 100,000 most are still in its queue."

const aboutAPIServer = "The same Toppings, served by the API server for a CustomResourceDefinition, and passed on by it to [the API server of the chapter](../../chapters/apiserver/README.md), which keeps them in memory and asks for each request whether the user may send it. One client, one request after the other, by turns; a list has all Toppings. The command alone: `make apiserver-cost`."

const failover = `
## Failover

How long nothing is reconciled when the leader ends, is killed, freezes, or loses the network, five times each: ` + "`make failover FAILOVERS=5`" + ` prints the medians, and fails if anything is written twice or lost.
`

const method = `
## Method

- Each run of a controller that writes has a new control plane, etcd and kube-apiserver v1.37.1 as separate processes with their default limits. Same flags, same credentials (a client certificate of a cluster administrator), loopback, TLS. etcd syncs every write to the disk.
- Base, A, base, B, base, and so on, round after round, on one machine: a virtual one, whose neighbours are not known. The harness runs nothing else on it. A round gives one ratio for each program, and each session some rounds. The programs of the sessions are those of their commits. This text is about those of today.
- One Foo is created through an API server. The Foos that a run begins with are copies of it with their own names and UIDs, written directly to etcd: that takes seconds for thousands, and each API server is as fresh for many as for few. What is created or changed while a controller works goes through the API server.
- The harness observes progress through watches of metadata alone, the same for all. It, the API server and etcd share the CPUs with the controller.
- After the measurement the harness reads the API server's request counters. Whether the work is right, [the judge](judge.md) says.
- Defaults: ` + "`byhand`" + ` is what ` + "`go run main.go`" + ` starts (16 workers), ` + "`sample-controller`" + ` is built from its module as it is (2 workers, client-go's default of 5 requests a second), ` + "`controller-runtime`" + ` is the program in [` + "`framework/`" + `](../framework) (1 worker).
- Tuned: 16 workers, as the floors. ` + "`sample-controller-tuned`" + ` also has no limit of requests, and the same clock in the cache's scenario; ` + "`controller-runtime-tuned`" + ` keeps no managedFields in its cache and reads its own writes.
- ` + "`sample-controller`" + ` as shipped is so slow by its own limit that it gets fewer Foos and one round a session; ` + "`controller-runtime`" + ` as shipped gets one round, too. Less than five rounds have no interval.
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
