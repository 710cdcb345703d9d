// Command cache keeps Secrets in memory in each way that there is, and says what each costs.
//
//	cd chapters && go run ./cache --kubeconfig FILE
//
// Nothing of the core is in it but the connection. It stands on client-go's shared informer;
// what is inside one is in chapters/informer.
//
// # Basics
//
//   - ways.go: the ways, one table. Each differs from the first one in a single thing.
//   - measure.go: one informer, and what it costs until its handler has heard the first list.
//   - shard.go: a part of all objects for each of several processes.
//
// # Properties
//
//   - Each way has a client of its own. Bytes are those of the answers' bodies, before
//     encryption, and not compressed.
//   - The heap is what lives after a garbage collection more than before the way began.
//   - An error before the first list is there ends the program. A Reflector would try for ever, also
//     without the right. After that it does, and says so in the log.
//   - The peak is that of the process. After several ways it is that of the largest one.
//
// # Caveats
//
//   - It writes nothing, and reads all Secrets: give its account to nothing that runs for long.
//   - A process holds the part that it was told, and no other when another process dies.
package main
