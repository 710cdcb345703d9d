// Command judge tests any Foo controller as a black box, in any language. It explains each violation and names
// a file of this repository that avoids it.
//
//	make judge CONTROLLER='bin/mine --kubeconfig {kubeconfig}'      # in the root: everything, 4 to 15 minutes
//	go run ./tools/judge -quick -- ./mine --kubeconfig {kubeconfig}       # a minute
//	go run ./tools/judge -scenario 'rename|killed-.*' -- ./mine
//	go run ./tools/judge -list
//	make judge QUICK=1 DIR=../mine                                  # seconds, a Go program, no Kubernetes
//	make judge SCRIPT=judge.yaml                                     # a controller of any kind
//
// # How to read it
//
// Each row is a scenario, printed when it ends. Each column is a property: ✓ holds, ✗ is violated, – is not
// checked. Below the table the judge explains each ✗, the most harmful first:
//
//   - the expected and the actual state, with its revision
//   - the program's last requests before the violation, with the server's messages
//   - why it matters, and a similar real bug
//   - a file of this repository that avoids it
//
// The exit status is the number of scenarios that fall short, at most 100. It is 101 if no verdict is
// possible.
//
// # Requirements
//
// The program must reconcile the Foos of every namespace in the cluster that $KUBECONFIG names. If it needs a
// flag, write {kubeconfig} in the command: the judge replaces it by the path. The program must do what the
// official Foo promises:
//
//   - The Foo controls the Deployment that spec.deploymentName names. That Deployment has the Foo's number of
//     replicas and the images that the program first gave it.
//   - status.availableReplicas is correct.
//
// More conditions and Events are allowed. But the Deployment must be complete while a condition Ready is True.
// A rejected write is no reason to write the status at every retry.
//
// # How it works
//
//	program ──► kit/testkit's Proxy (logs, kills, holds, cuts, answers) ──► API server
//	                                                                                 │
//	            judge ◄── history: every version of every Foo and Deployment ◄───────┘
//
// Package internal/court is the command. Below it are four packages, described in their doc.go. Each imports
// only the ones after it:
//
//   - anykind judges a controller of any other kind with a script: baseline.go learns the right results,
//     script_scenarios.go has the scenarios, and kind.go is the built-in script of a kind in memory.
//   - scenario has the scenarios for Foos in scenarios.go. Their steps are in situations.go, faults.go and
//     hostile.go, admission.go (a quota and a webhook) and users.go (actions of users).
//   - stage runs one scenario. world.go starts a control plane. program.go and supervise.go start the program as
//     a process group and restart it when it exits, like a kubelet. stage.go gives it a namespace and a proxy.
//     confined.go limits the program to this namespace, so most scenarios run in parallel. canary.go measures when
//     the machine is slow. wait.go has the waits of a step.
//   - verdict has the properties. history.go watches without the proxy. converged.go compares the present state
//     with the oracle of this repository's tests. review.go checks every revision. report.go prints the result,
//     explanations.go explains it.
//
// Situations run on a whole control plane. Faults run on an API server alone: the judge plays the controllers
// of Deployments (play.go) and quotas, so only the program takes time.
//
// # A script
//
// A script with a user's steps judges a controller of any other kind (script/foos.yaml is an example):
//
//	command: [./mine, --kubeconfig, "{kubeconfig}"]     # or CONTROLLER of make
//	crds: [config/crd]                                  # paths are relative to the folder of this file
//	steps:                                              # sh; kubectl has a namespace
//	- create: kubectl apply -f desk.yaml
//	- change: kubectl patch desk a --type merge -p '{"spec":{"seats":3}}'
//	- delete: kubectl delete desk a
//	allow:                                              # accepted findings, as printed, or their beginnings
//	- drift deployments .spec.template
//
// kubectl uses a new namespace in each scenario; $NAMESPACE has its name. A step may wait for a finalizer, as
// kubectl delete does, for at most a minute.
//
// First the judge plays the script without faults until two runs end with the same objects. It prints the
// result; -learned writes it to a file that you can commit and compare. The result has, for each
// step, the stored objects of all resources that the program has requested. It has only values that the program
// or kubectl wrote (metadata.managedFields). Namespaces, UIDs and times become placeholders. Values that differ
// between the two runs are ignored. The judge also plays the script with only a late start. Scenarios with a
// late start ignore conditions that appear or disappear there.
//
// Then the judge plays the scenarios for any kind. It kills the program, rejects its writes, starts it late,
// makes it miss events, serves stale lists and starts a second process. It changes or deletes the program's
// objects, or takes their names. A row
// has – for a property that the scenario does not check. It has – in all columns, with the reason, if nothing
// was tested: the program creates no object, or no request met the fault.
//
// Limitations:
//
//   - A mistake that the program also makes without faults is not found. Read the printed result.
//   - Objects without a namespace, other namespaces and anything outside the API server are not compared.
//     Webhooks that the program serves cannot be reached.
//   - The controllers of Kubernetes run, too. Pods run nothing, and a Pod of a Job completes at once. To keep it
//     pending, give it a nodeSelector that no node has. A command in a Pod (exec) is always rejected.
//   - A scenario ends with the first step in which the program falls short.
//
// # In memory
//
// With QUICK=1, quick builds the package main of a folder with one more test, which calls its function
//
//	func run(ctx context.Context, config *rest.Config) error
//
// A stage then has an in-memory API server (kit/testkit) and the program as a function,
// in virtual time (testing/synctest): memory.go. The scenarios, the properties and the explanations are the
// same. It plays 41 of the 45 scenarios. The others, and a final verdict, need a control plane. Each request
// takes 2 ms of virtual time, and a program that sends 5,000 is stopped. quick.go plays in another process, so
// that a panic ends only one scenario. It gives up a scenario after a minute of real time.
//
// If the folder has config/crd.yaml and config/sample.yaml, the judge plays the scenarios for any kind, with a
// built-in script for the kind of the CRD: a user creates the sample, changes the first value of its spec that
// may change according to the schema, and deletes it. The learned result is not printed.
//
// A restarted program runs in the same process: package variables keep their values, even after a kill. A
// killed program continues until its next request, which fails.
//
// # Limitations
//
//   - Each wait is at most a minute or, if longer, ten times the program's time without faults. A program that
//     polls less often falls short. A slow machine extends all waits: canary.go measures how long an event takes.
//   - A scenario that falls short in parallel is repeated alone. One that falls short on a slow machine is
//     repeated, too. The repetition counts. With a fixed port, parallel scenarios fail and are repeated: use -beside 1.
//   - A ConfigMap that elects a leader (client-go before 0.24) counts as an object of the program.
//   - A program may watch more than Foos and Deployments. It sees other resources of the whole cluster.
//   - Behind a proxy that loses bookmarks a program has 150 s to work anyway, or to exit. A log line or an unready
//     probe is not enough: logs may stay unread, and the judge does not see probes.
//   - The proxy, not the API server, plays quotas and webhooks. The scenario owner-stripped changes only POSTs,
//     not creations by server-side apply.
//   - Only the scenario idle checks P2 over a long time; elsewhere the program must be silent for 2 s.
//   - A stale start needs a program that accepts cached lists (resourceVersion=0). client-go's informers do so
//     when the API server has no streaming lists. stale-start rejects streaming lists, stale-start-streaming
//     forwards them.
//   - The judge and byhand have the same authors. -caveats adds the known limitations of byhand that can be played.
//   - A process that leaves its group and clears its environment is not found, and keeps running.
//   - Linux only: processes and memory are found in /proc.
//
// # Tests of the judge
//
// Package internal/mistakes lists typical mistakes in a Foo controller. Tests (tag long; make test-judge) make
// each of them in the exercise's solution, in memory, and some of them on control planes.
package main
