//go:build page

package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/byhand/internal/page"
	"example.com/byhand/internal/trace"
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

// fails lets a method of a class fail, when it is so.
const fails = `
	const fails = async (file, name, method, when) => {
		const {prototype} = (await import(file))[name];
		const as = prototype[method];
		prototype[method] = function (...given) {
			if (when(...given)) { throw new Error('on purpose in ' + name); }
			return as.apply(this, given);
		};
	};`

// TestStepThatFails makes the page fail at some steps, each at another place: it
// names them and shows the others.
func TestStepThatFails(t *testing.T) {
	t.Parallel()
	s := newScript()
	b := open(t, serve(t, s.History, page.Options{}), laptop)
	b.sees("#state", "live")
	b.do(chromedp.Evaluate[chromedp.Void](`(async () => {`+fails+`
		await fails('/history.js', 'History', 'meaning', (step) => step.seq === 2);
		await fails('/world.js', 'World', 'apply', (step) => step.seq === 4);
		await fails('/picture.js', 'Picture', 'step', (step) => step.seq === 6);
		await fails('/tables.js', 'Tables', 'update', (world, position) => position === 8);
		await fails('/panel.js', 'Panel', 'item', (step) => step.seq === 12);
	})()`, chromedp.EvalAwaitPromise))
	f := example()
	said := map[int]string{
		2: "Step 2 could not be shown: on purpose in History",
		4: "Step 4 could not be shown, nor could 1 before it: on purpose in World",
		6: "Step 6 could not be shown, nor could 2 before it: on purpose in Picture",
		9: "Step 9 could not be shown, nor could 3 before it: on purpose in Tables",
	}
	for i, step := range append(f.born(), f.scale(2)...) {
		s.add(step)
		if text := said[i+1]; text != "" {
			b.sees("#notices", text)
		}
	}
	b.badge("scaled 1 → 2")
	b.click(`#objects-table button[data-subject^="Foo "]`)
	b.sees("#notices", "Step 12 could not be shown, nor could 4 before it: on purpose in Panel")
	b.sees(`#panel .entry[data-seq="11"]`, "")
	b.sees(`#panel .entry[data-seq="13"]`, "")
	b.forgive("on purpose")
}
