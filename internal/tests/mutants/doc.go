// Package mutants asks who watches the tests: it makes one small mistake at a time
// in the code and sees that the test which is named for it fails. `make mutants`
// runs it. The code itself is never changed: each mistake is laid over it while
// the test is built.
package mutants
