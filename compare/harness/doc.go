// Command harness runs the peers of ../peers through the same scenarios, counts and
// times what they do, and writes the page of results.
//
//	make compare          # everything; about 50 minutes on 2 quiet cores
//	make compare-quick    # every peer, small; about 3 minutes
//	go run ./harness -scenarios 'Backlog|CacheSync: 10000 '
//	go run ./harness -report      # the page anew, from raw.txt
//
// It is run in the folder compare. It exits 1 if a peer does not do its work; never because
// of a time or a number. Whether the work is right, ../../judge says.
//
// # How it works
//
// plan.go says what runs: scenarios, peers, sizes, rounds. Each run of a peer gets a
// control plane of its own (../plane, server.go, etcd.go, create.go), is started as a process
// (process.go), and is followed from outside, through the API server (progress.go).
// What it sent, the API server has counted (counts.go). One file a scenario: coldstart.go,
// backlog.go, cachesync.go, apiserver.go. What varies with the speed of the machine is compared
// with a base that runs before and after (pairs.go).
//
// All measurements go to raw.txt in the Go benchmark format (raw.go), and from there,
// and only from there, to the page (report.go, goals.go, picture.go). What stands on it in words
// is in prose.go. Its statistics are those of benchstat (statistics.go), by the same library.
//
// # Caveats
//
// Linux only: CPU time and memory are read from /proc.
package main
