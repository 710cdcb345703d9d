// Command at runs containers once, at a given time: a command at a time ("cnat"). An At names
// the time and the containers, and this controller creates a Pod for it.
//
//	cd chapters && go run ./at --kubeconfig FILE
//
// It uses the core's packages: informer runs the informers, controller has the queue, the
// workers and PendingWrites.
//
// # Basics
//
// An At only moves forward, one step per reconcile:
//
//	PENDING    the time has not come           check again in an hour at most
//	RUNNING    without podUID: claimed         POST the Pod, record its UID
//	           with podUID: the Pod runs       wait for a Pod event
//	DONE       the Pod has succeeded           remove the Pod's finalizer
//	FAILED     permanently, with a reason      remove the Pod's finalizer
//
// # Properties
//
//   - One At gets one Pod at most, even if this program is killed at any time or runs twice.
//     A table in README.md lists what prevents a second one.
//   - Permanent errors make an At FAILED with a reason and are never retried: an invalid
//     schedule, another owner's Pod of this name, a deleted Pod, a Pod that the API server
//     calls invalid. A rejection by a quota or a policy is reported in the status and
//     retried, after at most 30 s.
//   - A Pod is never adopted by its name: the UID of its controller decides.
//   - The finalizer is removed as soon as no status needs the Pod, even if the At is deleted
//     first, or with --cascade=orphan, or while the program is off.
//
// # Limitations
//
//   - A schema with format: date-time admits 2026-01-01t00:30:00z, T00:30:00x5Z and +99:99.
//     metav1.Time cannot decode them. Then the list of Ats cannot be decoded, and the informer
//     never syncs. So the schedule is a string with a pattern, and the times in the status
//     have the pattern, too.
//   - The pattern admits February 30. Such an At is FAILED, InvalidSchedule.
//   - Between the GET of the At and the POST, another process could record a Pod, see it end
//     and release it, and a user could delete it. Then the POST creates a second one. That
//     needs two programs, one of which hangs in that gap: run only one.
//   - If a user removes the finalizer from a Pod by force, and deletes the Pod before its UID
//     is recorded, a second Pod is created.
//   - If a user removes the label from a Pod, the informer no longer has the Pod: the program
//     reads it once a second until it ends, and does not remove the finalizer.
//   - While the program is off, the Pod of a deleted At stays Terminating. The next start
//     releases it.
//   - If a Pod is deleted while it runs, its At is FAILED at once. The containers may still
//     succeed in their grace period.
package main
