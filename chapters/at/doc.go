// Command at runs containers once, at a time: a command at a time ("cnat"). An At names the
// time and the containers, and this controller creates a Pod for it.
//
//	cd chapters && go run ./at --kubeconfig FILE
//
// Its neighbours are the core's: package informer runs its informers, package controller has
// the queue, the workers and PendingWrites.
//
// # Basics
//
// An At moves forward only, one step a reconcile:
//
//	PENDING    it is not time yet              look again in an hour at most
//	RUNNING    without podUID: claimed         POST the Pod, note its UID
//	           with podUID: the Pod runs       wait for an event of the Pod
//	DONE       the Pod has succeeded           take the finalizer from the Pod
//	FAILED     it never will; reason says why  take the finalizer from the Pod
//
// # Properties
//
//   - One At gets one Pod at most, whenever this program is killed, and if two run at once.
//     README.md has a table of what stops a second one.
//   - What a retry cannot mend is FAILED with a reason and is never retried: a schedule that
//     is no time, another owner's Pod of this name, a Pod that was deleted, a Pod that the
//     API server calls invalid. What a quota or a policy refuses is told in the status
//     and retried, after at most 30 s.
//   - A Pod is never adopted by its name: the UID of its controller decides.
//   - The finalizer is taken from a Pod as soon as no status waits for it, also when the At is
//     deleted first, when it was deleted with --cascade=orphan, and if all that
//     happened while the program was off.
//
// # Caveats
//
//   - A schema with format: date-time admits 2026-01-01t00:30:00z, T00:30:00x5Z and +99:99.
//     metav1.Time does not decode them, and then no list of Ats decodes: the informer never
//     syncs. So the schedule is a string with a pattern, and the times in the status have the
//     pattern, too.
//   - The pattern admits February 30. Such an At is FAILED, InvalidSchedule.
//   - Between the look at the live At and the POST, another process could note a Pod, see
//     its end and release it, and a person could delete it. Then the POST creates a second
//     one. That takes two programs, of which one hangs in that gap: run one.
//   - A person who takes the finalizer from a Pod by force, and deletes the Pod before its
//     UID is noted, gets a second one.
//   - A person who takes the label from a Pod takes it out of this program's sight: it asks for
//     that Pod once a second until the Pod has ended, and does not remove the finalizer.
//   - While the program is off, the Pod of a deleted At stays Terminating. The next start
//     releases it.
//   - A Pod that is deleted while it runs is FAILED at once. Its containers may still have
//     ended well in their grace period.
package main
