package main

// The sentences of the page. No figure stands in them: figures come from raw.txt.

const introduction = "The Foo controller in three forms, and what they do with the same work: by hand (`byhand`, this repository), generated (`sample-controller`, Kubernetes' own example), and on a framework (`controller-runtime`). " +
	"[The page beside this folder](../README.md) walks through their code. " +
	"`floor` is no controller: a loop that sends the two writes that each Foo needs and does nothing else; `floor-watch` also holds the two watches of a controller and throws away what they tell, which no controller can do without; `floor-events` also sends the Events that `byhand` sends.\n\n" +
	"`make compare` wrote this page and the pictures from [`raw.txt`](raw.txt), which [benchstat](https://pkg.go.dev/golang.org/x/perf/cmd/benchstat) reads, too (`benchstat -col /peer -filter .name:ColdStart raw.txt`). Nothing on it is typed by hand.\n"

const aboutOthers = "With the whole control plane, other controllers write Deployments, too. Their writes are in the counts, and so are the conflicts that they run into and the time until the last write."

const aboutSummary = "Medians of `byhand` and of the best of the others, shipped or tuned. Where another one is better, the last column says **worse**."

const aboutColdStart = "The controller starts when all Foos are there and nothing else. The clock runs from the start of the process until the last Foo has a Deployment and a status. The median of the rounds, and in brackets the smallest and the largest; **bold**: the best of the controllers. " +
	"× is the median of the ratios in each round. Writes are those of Foos and Deployments that the API server has counted, refused ones included, until nobody wrote any more; CPU seconds and memory are the controller's own. " +
	"The clock stops for `sample-controller` when it has written each status once: one number, which it then writes again. \"Until its last write\" counts these, too; its end is looked for every half second and taken as early as it can have been."

const aboutWorkers = "The same cold start with other numbers of workers: how many writes are under way at the same time. More of them share an fsync of etcd, and each of them takes longer."

const aboutChange = "Everything is as it should be; then every Foo asks for two replicas instead of one. The clock runs from the first change to the last Deployment that follows. The harness sends its changes with 16 goroutines beside the controller, and its own writes are not counted."

const aboutDelete = "Every Deployment is deleted, with 16 goroutines. The clock runs from the first deletion until the last one is back."

const aboutBacklog = "The cold start again. While it is under way, every 100 ms one more Foo is created and one that is done already is changed. How long do these two wait for their Deployments, from the request on, while thousands of others wait that nobody has just touched? What they wait for is mostly the API server, which is busy with as many writes as there are workers: `controller-runtime` as shipped has one worker, waits less here, and takes longer for all."

const aboutLatency = "Nothing else is going on. A Foo is created; the clock runs from the request for it until its Deployment is seen; then comes the next one. The creation itself is part of it, alike for all."

const aboutIdle = "All is as it should be, and nobody changes anything for 65 seconds, in which every object is looked at again twice (a resync every 30 s: compiled into `sample-controller`, and given to the others). Reads are those of Foos and Deployments. `byhand` sends its Events beside its work and so many a second: those counted here, and the CPU time that they take, are still the news of the cold start before."

const aboutCache = "How long until all Foos are in memory, and what they take there. Nobody has to act on these Foos: they are being deleted, a finalizer keeps them, and they name no Deployment, which `sample-controller` passes over. Otherwise they are as a controller leaves them, with a status and `managedFields`, and the same for everybody. " +
	"\"Until in memory\" is from the start of the process to the line in which it says so, CPU seconds are until then, the peak is of the whole run, and \"then\" is what the process holds when it has looked at every Foo. " +
	"The live heap is what is alive after a collection of garbage, which comes last. (`sample-controller` is not yet through with its list then: it complains of each of these Foos, which takes it minutes.) For this, each program has one import more, of [`liveheap/`](../peers/liveheap/liveheap.go)."

const aboutFailover = "Two replicas, one of which works. It is ended, and when it is gone a Foo is created: the time from the signal until the other replica has made the Deployment. Leases of 15 s, renewed within 10 s, tried every 2 s, for everybody; as shipped, `controller-runtime` does not give its Lease away at the end. After a clean end the wait is for the standby's next try, which comes 2 to 4.4 s after the one before; the end comes at a random moment between two of them, so that single times differ by seconds and only many of them say something."

const aboutCalls = "Go benchmarks of the clients alone, over the same types and replies; the server runs in the same process and allocates, too, and `bare` (an HTTP client that decodes nothing) shows how much of a figure that is."

const aboutCopies = "The hand-written copies against those that deepcopy-gen v0.37 writes for the same types."

const aboutCarry = "Counted by the same rules for all, from the sources that go into each program; [`carry/`](../carry/doc.go) says how. More of a feature is more lines: `byhand` has a second resource, a trace and a page, `sample-controller` neither metrics nor leader election."

const method = `
## Method

- Each run of a controller has a control plane of its own, etcd and kube-apiserver v1.37.1 as separate processes with their default limits, made for it and removed after it. Same flags, same credentials (a client certificate of a cluster administrator), loopback, TLS. etcd syncs every write to the disk unless the table above says otherwise.
- Who is compared in time takes turns: A B C A B C, round after round, on the same machine, which does nothing else.
- One Foo is created through an API server. The Foos that a run begins with are copies of what was stored for it, with names and UIDs of their own, written to etcd directly: thousands are there in seconds, and each API server is as fresh for many as for few. What is created or changed while a controller works goes through the API server.
- Progress is seen from outside, by watches of metadata alone, the same for all. The watches, the API server and etcd share the CPUs with the controller: nobody here has a machine of its own.
- When the clock has stopped, the API server's own counters are read, before and after, never in between; then everything is listed, and each Foo must have exactly one Deployment, controlled by it, with the replicas that it wants, and a status.
- As shipped: ` + "`sample-controller`" + ` is built unmodified from its module (2 workers, client-go's default of 5 requests a second), ` + "`controller-runtime`" + ` is the program in [` + "`framework/`" + `](../framework) with all defaults (1 worker). Tuned: ` + "`sample-controller-tuned`" + ` has no limit and 16 workers, two lines of its main.go; ` + "`controller-runtime-tuned`" + ` has 16 workers, no managedFields in its cache, and reads its own writes. ` + "`byhand`" + ` and the floors have 16 workers. Those that are not as shipped also get a kubeconfig that says ` + "`disable-compression`" + `, as kube-controller-manager does: the API server would compress each event of a watch. For the caches all have client-go's default, which is to be compressed: for many objects at once that is faster. Encodings and what is logged are each program's own.
- ` + "`sample-controller`" + ` as shipped is so slow by its own limit that it gets fewer Foos and one round; ` + "`controller-runtime`" + ` as shipped, and what takes minutes, has fewer rounds, too. The column says how many.

## What the numbers do not say

- How fast any of this is on your cluster. Here everything shares a few CPUs and one disk, and the floor moves with both; the ratios move less.
- That a ratio of 1.02 is a difference. Look at the spread, or let benchstat judge.
- What a real etcd would cost: with three members and a network between them each write takes longer, and more workers pay off.
- What happens with a deployment controller beside it, whose writes to each Deployment every controller has to follow. (` + "`go run ./harness -components ''`" + ` measures with the whole control plane.)
- How good a controller is at anything but this: one kind, one child, no finalizer, no webhook.
- What it takes to keep the code working for years.
`
