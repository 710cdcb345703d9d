// Package trace defines the Step: one action of one part of a controller with an object. It imports only
// the standard library, so that a program that plays a recording builds quickly.
//
// Its neighbors: package observer creates the steps, a History keeps them, and package page shows them.
// ReadRecording reads the output of --trace=json.
//
// The words of steps, by part:
//
//	stream     opened, listed, received, ended, refused
//	store      added, updated, deleted, resync (the resync period is over), relisted (the
//	           same version again, in a later list), tombstone (a deletion that the watch
//	           missed)
//	queue      added, coalesced (the key already waits, backs off, or returns when its worker
//	           is done), delayed (by requeueAfter), limited (after an error), due (a delay
//	           is over), forgot (its failures no longer count)
//	worker     got, done
//	reconcile  started, ended, failed (with an error or a panic)
//	request    sent, answered, failed (no response)
//	program    started, standby, leader, synced, lost, stopped, said
package trace
