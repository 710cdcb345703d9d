// Command cluster starts a real Kubernetes control plane on a machine that has
// nothing but Go: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, and kwok, which plays the kubelet.
//
//	go run . up   [--name NAME] [--components etcd,kube-apiserver] [--download]
//	go run . down [--name NAME]
//	go run . exec [--name NAME] [--components …] [--download] -- COMMAND [ARGUMENTS]
//
// up builds what is missing, starts the cluster and waits until it serves. down
// stops it and removes its data. exec starts a cluster, runs a command at the root of the repository (KUBECONFIG
// names the cluster, PATH has its kubectl), and removes the cluster when the command ends. With --name it
// uses the cluster of up, and keeps it.
//
// up and exec print each program of the cluster that has ended, with the last line of its log, and start it
// again: up once, exec as long as its command runs.
//
// The exit code is 0, 1 after an error, or that of exec's command.
//
// # How it works
//
// go.mod says what is built: its tool lines name the programs, its
// versions pin them, and `go build tool` compiles them from the module proxy. With
// --download they are the official programs of these versions, which curl gets from the
// hosts of their releases, if each has the SHA-256 that is published there.
// kwokctl, one of them, writes certificates and starts the processes; this
// command adds the build, loopback addresses, and a clean-up
// that survives crashes and reboots.
//
// It writes to bin at the root of the repository, which git ignores: cluster/bin (programs), cluster/state
// (data, logs, certificates, process ids), NAME.kubeconfig, and kubectl, a link to the program.
//
// # Caveats
//
// A published SHA-256 tells what broke on its way. It does not tell of a host that was
// broken into, as go.sum does for what is compiled.
//
// The nodes are kwok's: Pods are scheduled, become Running and Ready, and run
// nothing. The clusters are for learning and tests: they listen on 127.0.0.1 only,
// and their etcd asks for no credentials, so any user of this machine can change
// what is in them.
//
// After kwok has ended, new Pods start up to 10 s later: until then the node's Lease is the old process's.
// exec prints when the API server or etcd hangs. It does not notice other programs that hang.
package main
