package compare

import "testing"

// deepcopy-gen, run on a copy of our types, writes methods that copy the same as
// ours, with as many allocations. The comparison itself is testdata/equal_test.go.txt,
// which becomes a package of its own beside the generated ones.
func TestDeepCopyEqualsGenerated(t *testing.T) {
	dir := generate(t, "testdata/equal_test.go.txt", ownPackages(t))
	t.Log(command(t, "go", "test", "-count=1", "-v", "./"+dir))
}
