// Package metrics counts what a controller does, for Prometheus to scrape. The
// names and labels are those of kube-controller-manager (k8s.io/component-base)
// and of controller-runtime, so that the dashboards that exist for these show this
// controller, too.
//
// Its neighbors: client-go calls its hooks, Reconcile wraps each reconcile, a scrape reads the stores of
// package informer, and package serve answers the scrape.
//
// # Basics
//
//	m := metrics.New() // before the first queue, client and elector
//	…
//	m.Informers(foos, deployments)
//	reconcile = m.Reconcile("Foo", workers, reconcile)
//	server, err := serve.Listen(address, serve.Options{Metrics: m.Handler()})
//
//	workqueue_*            by queue: depth, adds, retries, how long keys wait and take
//	rest_client_*          requests by code, their duration, retries, client-side waits
//	controller_runtime_*   reconciles by result, their duration, panics, workers
//	informer_*             objects in each store, whether it is complete and not blind
//	leader_election_*      whether this process leads
//	go_*, process_*        the Go runtime, the process, its build
//
// # Caveats
//
//   - client-go's hooks are global and can be set once in a process. New sets them
//     to report to whichever Metrics was made last. A queue reports for ever to the one
//     that was last when it was made, and to none if it was made before the first.
//   - A queue without a name has no metrics. Two queues of one name share theirs.
//     client-go has queues of its own, which show, too, such as
//     DynamicClientCertificate.
//   - No label holds the name of an object or of a namespace, nor a path: the
//     number of series does not grow with what is in the cluster.
//   - rest_client_rate_limiter_duration_seconds stays empty for a client without a
//     limit on its requests.
//   - workqueue_retries_total counts each key that is added with a delay, also
//     when nothing failed.
//   - leader_election_master_status falls to 0 when no renewal has succeeded for the
//     renew deadline, also if another process has taken the Lease before. An elector that
//     is ended by its context leaves it as it is, since client-go says nothing then.
//   - client-go v0.37 still has an interface for a Reflector's metrics, and nothing
//     calls it: lists and watches show as requests.
package metrics
