package controller

import (
	"os/exec"
	"strings"
	"testing"
)

// Package controller imports no package for one kind.
func TestDependsOnNothingHere(t *testing.T) {
	deps, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const self = "example.com/byhand/controller"
	for _, dep := range strings.Fields(string(deps)) {
		if strings.HasPrefix(dep, "example.com/byhand/") && dep != self {
			t.Errorf("package controller imports %s: move code for one kind to a package below %s", dep, self)
		}
	}
}
