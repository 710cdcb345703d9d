// Command cache reads Secrets in 13 ways, and prints the cost of each.
//
//	cd chapters && go run ./cache --kubeconfig FILE
//
// From the core it only uses the connection. It is built on client-go's shared informer, which
// chapters/informer explains.
//
// # Properties
//
//   - Each way has a separate client. Bytes are the sizes of the responses' bodies, before
//     encryption, and not compressed.
//   - The heap is the live heap after a garbage collection, minus the live heap before
//     the way began.
//   - An error before the first list exits the program. A Reflector would retry forever, even
//     without permission. Later errors are retried and logged.
//   - The peak is the process's: after several ways, the peak of the largest one.
//
// # Limitations
//
//   - It reads all Secrets and writes nothing: do not use its account for a long-running program.
//   - Shards are static: no process takes over the shard of one that died.
package main
