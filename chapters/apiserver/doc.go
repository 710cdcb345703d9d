// Command apiserver is an API server of one's own, on net/http, for Pizzas and Toppings. The
// API server of the cluster passes on what is asked of their group (API aggregation), so
// kubectl, informers, the garbage collector and the deletion of namespaces all work with
// it. Nothing here comes from k8s.io/apiserver.
//
//	cd chapters && go run ./apiserver --kubeconfig FILE
//
// Its neighbours: package storage holds the objects, the types and their conversion are those
// of package restaurant, package webhook makes the certificate, and package serve has the HTTP
// server.
//
// # Basics
//
// A request goes through these, in this order:
//
//   - request.go finds the place and the verb, server.go asks: who is it (auth.go), is there
//     such a verb, is there room (limits.go), may they (auth.go)?
//   - To read: discovery.go says what there is, read.go answers get and list, and represent.go
//     as the object or as its metadata. registration.go tells the API server.
//   - To write: write.go reads an object, creates and updates, rules.go says which may be
//     stored, delete.go deletes, watch.go tells of all that.
//   - To merge: patch.go, a merge patch or server-side apply.
//
// # Properties
//
//   - Who asks is known only through the front proxy's certificate. A header alone says
//     nothing, and there is no other way in.
//   - Each request is authorized by the API server (SubjectAccessReview).
//   - One write happens at a time and sees all objects. So a Topping that is in use is not
//     deleted, and a Pizza names no Topping that is not there, whatever else is written. Nothing
//     else happens meanwhile: objects are merged, checked, encoded and decoded before.
//   - A restart begins empty, at a higher revision: no revision goes back.
//   - A watcher goes on at the revision that it has seen, or is told 410, as after a restart. It
//     has no queue here, so a slow one costs no memory.
//   - What one request can take has a limit: bytes, depth, time, and how many there are at once,
//     of all users and of one. So have the bytes that are stored, and those of the history.
//   - An event is encoded once, and not for each watcher.
//
// # Caveats
//
//   - While the program is killed and its APIService stands, no namespace can be deleted, not
//     even an empty one, and each kubectl complains. make chapter-down takes it away.
//   - A 404 on /openapi/v3 would be remembered until the APIService is made anew. So it is
//     served before the APIService exists.
//   - Time is looked at between two objects, and when the API server is asked. What one object
//     takes is bounded by its size: some 50 ms.
//   - The processor is not shared out. A user who sends large patches without end, a quarter of all
//     requests at a time, makes those of others slower.
//   - Large writes make the history short: a watcher that is slow meanwhile is told 410.
//   - A storage that one user has filled is full for all.
//   - The storage is the memory of one process: a restart empties it, and there is no second
//     replica.
//   - One program a cluster: a second one takes the registration over until it ends.
//   - Admission does not run for what is passed on: no quota, no policy, no webhook. What they
//     would do, rules.go must do.
package main
