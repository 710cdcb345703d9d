// Command harness measures a cold start of the three forms of the Foo controller, and prints one
// table of ratios: byhand, sample-controller, and the program in ../framework.
//
//	go run ./harness -foos 1000 -rounds 5
//
// Each round starts each form once. Every run has a new control plane, etcd and kube-apiserver, on
// which all Foos exist and nothing else does. The forms alternate, and each ratio divides two runs
// of one round, because a shared machine is fast in one minute and slow in the next.
//
// The work is equal as far as it can be: 16 workers, no client-side rate limit, no Events.
// forms.go lists the changes in each program. After each run of the framework the harness compares
// its Deployment and its status with byhand's.
//
// Limitations:
//
//   - sample-controller writes a smaller status, and writes it twice.
//   - With so many Foos that a run takes 30 s, sample-controller's resync adds writes.
//   - The controller, the API server, etcd and the harness share the CPUs.
//   - It needs Linux: it reads CPU time and peak memory from /proc.
package main
