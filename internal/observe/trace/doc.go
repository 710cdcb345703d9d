// Package trace says what a trace is made of: Steps, each of which is one thing that one
// part did with an object on its way through a controller. It needs nothing but the
// standard library, so that a program that only shows a recording is built soon.
//
// Its neighbours: package observer makes steps of what happens, a History keeps them, and
// package page shows it. ReadRecording reads what --trace=json has written.
//
// What a step is called, by its part:
//
//	stream     opened, listed, received, ended, refused
//	store      added, updated, deleted, resync (the resync period is over), relisted (the
//	           same version again, in a later list), tombstone (a deletion that the watch
//	           missed)
//	queue      added, coalesced (the key waits already, backs off, or comes back when its
//	           worker is done), delayed (at the reconcile's own wish), limited (after an
//	           error), due (a delay is over), forgot (its failures no longer count)
//	worker     got, done
//	reconcile  started, ended, failed (with an error or a panic)
//	request    sent, answered, failed (without an answer)
//	program    started, standby, leader, synced, lost, stopped, said
package trace
