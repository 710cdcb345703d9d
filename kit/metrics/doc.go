// Package metrics counts the work of a controller for Prometheus. The metrics of queues, requests and
// elections are kube-controller-manager's (k8s.io/component-base). The metrics of reconciles have the names
// and labels of controller-runtime. So existing dashboards show this controller, too.
//
// Its neighbors: client-go calls the hooks of component-base, Reconcile wraps each reconcile, a scrape
// reads the stores of package informer, and package serve answers the scrape.
//
// # Basics
//
//	m := metrics.New() // before the first queue, client and elector
//	…
//	m.Informers(foos, deployments)
//	reconcile = m.Reconcile("Foo", workers, reconcile)
//	server, err := serve.Listen(address, false, serve.Health(serve.Options{Metrics: m.Handler()}))
//
//	workqueue_*            by queue: depth, adds, retries, waiting time, processing time
//	rest_client_*          requests by code, their duration, retries, client-side waits
//	controller_runtime_*   reconciles by result, their duration, panics, workers
//	informer_*             objects in each store, whether it is synced and its watch works
//	leader_election_*      whether this process leads
//	go_*, process_*        the Go runtime, the process, its build
//
// # Limitations
//
//   - The metrics of queues, requests and elections are global: programs in one process share them.
//   - A queue without a name has no metrics. Two queues with the same name share theirs. client-go's
//     own queues, such as DynamicClientCertificate, appear as well.
//   - No label contains the name of an object or a namespace, or a path, so the number of series
//     does not depend on the cluster.
//   - rest_client_rate_limiter_duration_seconds stays empty for a client without a rate limit.
//   - workqueue_retries_total counts each key that is added with a delay, even without a failure.
//   - leader_election_master_status becomes 0 when no renewal has succeeded for the renew deadline,
//     even if another process took the Lease earlier. When an elector's context ends, the value
//     stays, because client-go does not report that.
package metrics
