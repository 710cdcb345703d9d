//go:build page

package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
)

// TestForeignObjects plays a recording whose objects lack what this program's have.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.add(example().born()...)
	for _, object := range []string{`{"spec":null,"status":null,"metadata":null}`, `{"spec":{"replicas":null}}`, `[null]`, `"text"`, `7`, `null`} {
		s.add(trace.Step{Part: trace.PartStore, What: trace.Updated, Kind: "Foo", Key: "default/example-foo", For: "Foo default/example-foo", Object: json.RawMessage(object)})
	}
	b := open(t, serve(t, s.History, page.Options{Recording: "foreign.json"}), laptop)
	b.sees("#state", "foreign.json")
	b.speed("1")
	b.sees("#state", "paused")
	b.sees("#when", fmt.Sprintf("step %d", len(s.kept)))
	b.click("#objects-table button")
	b.until(fmt.Sprintf(`document.querySelectorAll('#panel .entry').length === %d`, len(s.kept)))
	if said := value[string](b, `document.querySelector('#notices').textContent`); said != "" {
		t.Errorf("the page says %q", said)
	}
}

// TestStepThatFails makes the page fail at two steps: it names them and shows the others.
func TestStepThatFails(t *testing.T) {
	t.Parallel()
	s := newScript()
	b := open(t, serve(t, s.History, page.Options{}), laptop)
	b.sees("#state", "live")
	b.do(chromedp.Evaluate[chromedp.Void](`(async () => {
		const fails = async (file, name, method, seq) => {
			const {prototype} = (await import(file))[name];
			const original = prototype[method];
			prototype[method] = function (step) {
				if (step.seq === seq) { throw new Error('on purpose in ' + name); }
				return original.call(this, step);
			};
		};
		await fails('/world.js', 'World', 'apply', 4);
		await fails('/panel.js', 'Panel', 'item', 12);
	})()`, chromedp.EvalAwaitPromise))
	f := example()
	s.add(append(f.born(), f.scale(2)...)...)
	b.sees("#notices", "Step 4 could not be shown: on purpose in World")
	b.badge("scaled 1 → 2")
	b.click(`#objects-table button[data-subject^="Foo "]`)
	b.sees("#notices", "Step 12 could not be shown, nor could 1 before it: on purpose in Panel")
	b.sees(`#panel .entry[data-seq="11"]`, "")
	b.sees(`#panel .entry[data-seq="13"]`, "")
	b.forgive("on purpose")
}
