// Command cluster starts a real Kubernetes control plane on a machine that has
// nothing but Go: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, and kwok, which plays the kubelet.
//
//	go run . up   [--name NAME] [--components etcd,kube-apiserver]
//	go run . down [--name NAME]
//	go run . exec [--components …] -- COMMAND [ARGUMENTS]
//
// up builds what is missing, starts the cluster and waits until it serves. down
// stops it and removes its data. exec runs a command against a cluster of its
// own (KUBECONFIG names it, PATH has its kubectl) and removes that cluster when
// the command ends.
//
// # How it works
//
// go.mod says what is built: its tool lines name the programs, its
// versions pin them, and `go build tool` compiles them from the module proxy.
// kwokctl, one of them, writes certificates and starts the processes; this
// command adds the build with its progress, loopback addresses, and a clean-up
// that survives crashes and reboots.
//
// All it writes lies beside this file and is ignored by git: bin (programs),
// state (data, logs, certificates, process ids) and NAME.kubeconfig.
//
// # Caveats
//
// The nodes are kwok's: Pods are scheduled, become Running and Ready, and run
// nothing. The clusters are for learning and tests: they listen on 127.0.0.1 only,
// and their etcd asks for no credentials, so any user of this machine can change
// what is in them.
package main
