//go:build page

package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
)

// bars makes the steps of a Foo those of a Bar that has the same name, and a
// StatefulSet where the Foo has a Deployment.
func bars(steps []trace.Step) []trace.Step {
	changed := strings.NewReplacer("Foo", "Bar", "controller/foo", "controller/bar", "foo.go", "bar.go", "/foos", "/bars", "Deployment", "StatefulSet", "/deployment", "/statefulset").
		Replace(string(encode(steps)))
	var made []trace.Step
	if err := json.Unmarshal([]byte(changed), &made); err != nil {
		panic(err) // it was encoded above
	}
	return made
}

// TestTwoKinds watches two kinds whose objects have the same names: nothing of one
// is taken for the other's.
func TestTwoKinds(t *testing.T) {
	t.Parallel()
	s := newScript()
	b := open(t, serve(t, s.History, page.Options{}), laptop)
	b.sees("#state", "live")
	f := example()
	born := f.born()
	s.add(bars(born)...)
	s.add(born...)
	b.sees("#when", fmt.Sprintf("step %d", 2*len(born)))

	// Letters, each its own, and the same everywhere. (TestContrastAndWidth has the colours.)
	const name = " default/example-foo"
	for letter, kind := range map[string]string{"F": "Foo", "B": "Bar", "D": "Deployment", "S": "StatefulSet"} {
		row := fmt.Sprintf(`document.querySelector('#objects-table button[data-subject="%s"]').closest('tr')`, kind+name)
		chip := row + ".querySelector('.chip')"
		b.until(fmt.Sprintf("%s.textContent === %q", chip, letter))
		b.until(fmt.Sprintf("[...witness.looks].some((seen) => seen.includes('token object ' + %s.className.replace('chip ', '')))", chip))
		b.sees(".legend", letter+"\u00a0"+kind)
		if kind == "Foo" || kind == "Bar" {
			b.until(fmt.Sprintf("%s.querySelector('.number').textContent === '%d'", row, len(born)))
			b.sees("#steps .follow", kind+name)
		}
	}

	// A history is that of one of them.
	b.click(`#objects-table button[data-subject="Bar` + name + `"]`)
	b.sees("#panel h2", "B default/example-foo")
	b.tellsAllOf(len(born))
	b.sees("#panel .place", "controller/bar/reconcile.go Reconciler.Reconcile")
	if strings.Contains(value[string](b, `document.querySelector('#panel').textContent`), "Foo") {
		t.Error("the Bar's history tells of a Foo")
	}

	// A third kind that begins like another.
	for _, kind := range []string{"Baz", "DaemonSet"} {
		s.add(trace.Step{Part: trace.PartStore, What: trace.Added, Kind: kind, Key: f.key()})
	}
	b.sees("#objects-table .chip", "Bz")
	b.sees("#objects-table .chip", "Da")
}
