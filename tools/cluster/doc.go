// Command cluster starts a real Kubernetes control plane on a machine that has
// nothing but Go: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, and kwok, which plays the kubelet.
//
//	go run . up   [--name NAME] [--components etcd,kube-apiserver] [--download]
//	go run . down [--name NAME]
//	go run . exec [--name NAME] [--components …] [--download] -- COMMAND [ARGUMENTS]
//
// up builds missing programs, starts the cluster and waits until it serves. down
// stops it and removes its data. exec starts a cluster, runs a command at the root of the repository (KUBECONFIG
// names the cluster, PATH has its kubectl), and removes the cluster when the command ends. With --name it
// uses the cluster of up, and keeps it.
//
// up and exec print each program of the cluster that has ended, with the last line of its log, and restart it:
// up once, exec as long as its command runs.
//
// The exit code is 0, 1 after an error, or the exit code of exec's command.
//
// # How it works
//
// go.mod defines the programs: its tool lines name them, its versions pin them, and `go build tool`
// compiles them from the module proxy. With --download, curl gets the official programs of these versions
// from the hosts of their releases; each must have the SHA-256 that is published there.
// kwokctl, one of the programs, writes certificates and starts the processes. This command adds the
// build, loopback addresses, and a clean-up that survives crashes and reboots.
//
// It writes to bin at the root of the repository, which git ignores: cluster/bin (programs), cluster/state
// (data, logs, certificates, process ids), NAME.kubeconfig, and kubectl, a link to the program.
//
// # Limitations
//
// A published SHA-256 detects a damaged download, but not a compromised host. For compiled programs
// go.sum detects that, too.
//
// The nodes are kwok's: Pods are scheduled, become Running and Ready, and run
// nothing. The clusters are for learning and tests: they listen on 127.0.0.1 only,
// and their etcd requires no credentials, so any user of this machine can change
// their objects.
//
// After kwok has ended, new Pods start up to 10 s later: until then the node's Lease is the old process's.
// exec prints when the API server or etcd hangs. It does not notice other programs that hang.
package main
