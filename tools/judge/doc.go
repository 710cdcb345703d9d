// Command judge puts any Foo controller to the test, from outside: a program in any language,
// on any library. It says what is wrong and which file does it right.
//
//	make judge CONTROLLER='bin/mine --kubeconfig {kubeconfig}'      # in the root: everything, 4 to 15 minutes
//	go run ./tools/judge -quick -- ./mine --kubeconfig {kubeconfig}       # a minute
//	go run ./tools/judge -scenario 'rename|killed-.*' -- ./mine
//	go run ./tools/judge -list
//	make judge QUICK=1 DIR=../mine                                  # seconds, a Go program, no Kubernetes
//	make judge SCRIPT=judge.yaml                                     # a program about any kind
//
// # How to read it
//
// Each row is a scenario, printed when it ends; each column a property: ✓ it holds, ✗ it is violated, – it was not
// tested. Below the table each ✗ is explained, the worst first: the expected and the actual state with its revision, the last
// requests of the program before that with the server's messages, why it matters, a similar real bug, and the file of this
// repository that does it right. The properties are in properties.go, the scenarios in scenarios.go.
//
// The exit status is the number of scenarios that fall short, at most 100; 101: nothing
// could be said.
//
// # Requirements
//
// That it reconciles the Foos of every namespace of the cluster that $KUBECONFIG names (a
// program that needs a flag gets the path in place of {kubeconfig} in the command), and does
// what the official Foo promises: the Deployment that spec.deploymentName names, controlled
// by the Foo, with spec.replicas and the images that the program itself gave it, and a true
// status.availableReplicas. More conditions and Events are allowed; but if a
// condition Ready is True, the Deployment must be complete, and a refusal is no reason to write the
// status with each try.
//
// # How it works
//
//	program ──► kit/testkit's Proxy (logs, kills, holds, cuts, answers) ──► API server
//	                                                                                 │
//	            judge ◄── history: every version of every Foo and Deployment ◄───────┘
//
// Package internal/court is the command. Below it are four packages, and each imports only those after it:
//
//   - anykind judges a program about any other kind: baseline.go learns the right results, script_scenarios.go has the scenarios.
//   - scenario has the scenarios for Foos in scenarios.go. Their steps are in situations.go, faults.go and hostile.go,
//     admission.go (what the API server rejects or changes) and users.go (what users do).
//   - stage runs one scenario: world.go starts a control plane, program.go and supervise.go start the program, a process group
//     that is restarted when it ends, as by a kubelet. stage.go gives it a namespace and a proxy, and confined.go makes that
//     namespace all that the program sees, so most scenarios run in parallel. canary.go measures when the machine is
//     slow, wait.go has how a step waits and ends its stage.
//   - verdict has the properties. history.go watches past the proxy, converged.go compares the present state with the oracle of
//     this repository's own tests, review.go checks every revision. report.go prints it, explanations.go says why it matters.
//
// Situations run on a whole control plane. Faults run on an API server alone, where the judge
// plays the controllers of Deployments (play.go) and quotas, so only the program takes time.
//
// # A script
//
// A script with the steps of a user judges a program about any other kind (script/foos.yaml is an example):
//
//	command: [./mine, --kubeconfig, "{kubeconfig}"]     # or CONTROLLER of make
//	crds: [config/crd]                                  # all paths are seen from the folder of this file
//	steps:                                              # sh; kubectl has a namespace
//	- create: kubectl apply -f desk.yaml
//	- change: kubectl patch desk a --type merge -p '{"spec":{"seats":3}}'
//	- delete: kubectl delete desk a
//	allow:                                              # what was found and is meant so: the line that the judge prints, or its beginning
//	- drift deployments .spec.template
//
// kubectl uses a new namespace in each scenario; $NAMESPACE has its name. A step may wait for a finalizer, as kubectl delete does,
// but not longer than a minute.
//
// First the judge plays the script without a fault until two runs end with the same objects. It prints the result
// (-learned writes it to a file, to commit and to compare): after each step, the stored objects of the resources that the program
// has requested, with the values that the program or kubectl has written (metadata.managedFields). Namespaces, UIDs and times
// become words. Values that differ between the two runs are ignored. After a run that starts late, conditions that only one
// of the runs has are ignored in scenarios that start late.
//
// Then the judge plays the scenarios for any kind: it kills the program, rejects its writes, starts it late, makes it miss
// events, serves old lists, and changes, deletes or takes the names of its objects. A row has – for a property that the
// scenario does not look at, and in all columns if nothing was tested, with the reason: the program creates no object, or no
// request met the fault.
//
// Limitations:
//
//   - A program that is wrong in the same way without a fault counts as right. Read the printed result.
//   - Objects without a namespace, other namespaces and anything outside the API server are not compared. A program that serves
//     webhooks cannot be reached.
//   - The controllers of Kubernetes run, too. Pods run nothing, and a Pod of a Job completes at once: a nodeSelector that no
//     node has keeps it pending. A command in a Pod (exec) is rejected, also without a fault.
//   - A scenario ends with the first step in which the program falls short.
//
// # In memory
//
// With QUICK=1, quick builds the program of a folder with one more test, which calls
//
//	func run(ctx context.Context, config *rest.Config) error
//
// of its package main. A stage then has an API server in memory (kit/testkit) and the program
// as a function, in virtual time (testing/synctest): memory.go. The scenarios, the properties and the words are
// the same. 42 of the 46 are played; for the rest, and for the last word, there is the real control plane.
// Each request takes 2 ms of virtual time, and a program that sends 5,000 is stopped. quick.go plays
// in another process, so that a panic ends one scenario, and gives up a scenario after a minute of real time.
//
// A folder with config/crd.yaml and config/sample.yaml is about that kind (kind.go): the judge
// learns the right results from a run without a fault, and plays 24 scenarios that hold for any
// kind. The user changes the first value of the spec that the schema lets be different.
//
// A restarted program runs in the same process: package variables keep their values, after a kill, too. A program that is killed goes on until its next request, which goes nowhere.
//
// # Caveats
//
//   - The bound for everything is a minute, or ten times what the program takes without
//     faults. A program that polls less often falls short. On a slow machine it is longer, as all that the
//     judge waits for: canary.go measures how long an event takes, all the time.
//   - A ✗ counts only if the scenario also fails alone: it is repeated, and
//     so is one that ran while the machine was slow. So a program that wants a port for itself is
//     judged as well, one scenario after the other; -beside 1 does so at once.
//   - A program may watch more than Foos and Deployments. For other resources it sees the whole cluster.
//   - Behind a proxy that loses bookmarks a program has 150 s to work all the same, or to end. To
//     say it in a log or to become unready is not enough: a log may stay unread, and the judge
//     cannot see the second.
//   - P2 is judged over a long time in the scenario idle alone; elsewhere the program must be
//     silent for 2 s.
//   - A stale start needs a program that accepts a list from a cache (resourceVersion=0), as
//     every informer of client-go does when the API server has no streaming lists. The scenario
//     stale-start refuses those, stale-start-streaming passes them on.
//   - Goroutines and times differ in each run.
//   - The judge and byhand have the same authors. The known limitations of byhand that can be
//     played are the scenarios of -caveats.
//   - A process that leaves its group and clears its environment is not found, and lives on.
//   - Linux only: processes and memory are found in /proc.
//
// # The judge is judged
//
// Package internal/mistakes lists typical mistakes in a Foo controller, each with the scenario that must find it and the words and
// the file that the judge must name. Tests (tag long; make test-judge) make each of them in the exercise's solution, in memory,
// and some of them on control planes. TestScript, which make test-judge leaves out, finds some by a script.
package main
