//go:build bare && page

package main

import "testing"

// A program in another language, with the library that its users have: go test -tags bare,page -run TestJavaScript.
// It needs npm, and what npm downloads.
func TestJavaScript(t *testing.T) {
	s, program, dir := behind(t, "JavaScript", "configmaps")
	s.Run("bin/kubectl create configmap")
	program.Prints(1, `sent     PATCH .*/configmaps/greeting → 200: metadata.labels.seen none → "yes"  \(because ConfigMap default/greeting was added, `)
	program.Prints(1, `finding  no-op-write: PATCH .*/configmaps/greeting`)
	s.Run("bin/kubectl delete configmap")
	found(t, program, dir, "no-op-write")
}
