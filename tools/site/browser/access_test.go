//go:build page

package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
)

// focus says what has the focus, in a few words, and whether that can be seen.
const focus = `(() => {
	const e = document.activeElement;
	const style = getComputedStyle(e);
	const box = e.querySelector?.('.part-box');
	const seen = box ? parseFloat(getComputedStyle(box).strokeWidth) >= 3 : style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
	if (e === document.body) { return {what: 'the end'}; }
	return {what: e.dataset.part ?? (e.id || e.textContent.trim() || e.labels?.[0].textContent.trim()), seen};
})()`

type focused struct {
	What string `json:"what"`
	Seen bool   `json:"seen"`
}

// tabs is what Tab goes to, in order. One must see where the focus is.
func (b *tab) tabs() (order []string) {
	b.Helper()
	for range 60 {
		b.do(chromedp.KeyEvent(kb.Tab))
		at := value[focused](b, focus)
		if at.What == "the end" {
			break
		}
		order = append(order, at.What)
		if !at.Seen {
			b.Errorf("one cannot see that %q has the focus", at.What)
		}
	}
	return order
}

func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.add(example().born()...)
	b := open(t, serve(t, s.History, page.Options{}), laptop)
	b.sees("#objects-table", "default/example-foo")

	// From the top: the parts as an object travels them, then time.
	got := strings.Join(b.tabs(), " ")
	const want = "Skip to the tables server stream store handler queue worker reconcile request pause back replay speed position"
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "filter") {
		t.Errorf("Tab goes to %s…\nwant %s… filter", got, want)
	}

	// Enter opens what a part is; Close gives the focus back.
	b.press(".part-queue", kb.Enter)
	b.sees("#panel h2", "Queue")
	b.press("#panel .close", kb.Enter)
	b.sees("#panel h2", "How to read this")
	if at := value[focused](b, focus); at.What != "queue" {
		t.Errorf("after Close the focus is at %q, want the part that was opened", at.What)
	}
}

// TestScreenReader reads what the browser hands to one.
func TestScreenReader(t *testing.T) {
	t.Parallel()
	s := newScript()
	b := open(t, serve(t, s.History, page.Options{}), laptop)
	s.add(example().born()...)
	b.sees("#summary", "New steps")
	tree := command(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	roles := map[string]int{}
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role, name := text(node.Role), ""
		if node.Name != nil {
			name = text(node.Name)
		}
		roles[role]++
		switch role {
		case "button", "slider", "combobox", "searchbox", "link", "region":
			if name == "" {
				t.Errorf("a %s has no name", role)
			}
		}
	}
	for role, least := range map[string]int{"button": 16, "slider": 1, "table": 3, "columnheader": 13, "rowheader": 9, "heading": 5, "main": 1} {
		if roles[role] < least {
			t.Errorf("%d of role %s, want at least %d: %v", roles[role], role, least, roles)
		}
	}
	if live := value[string](b, `document.querySelector('#summary').getAttribute('aria-live')`); live != "polite" {
		t.Errorf("the summary is %q, want polite", live)
	}
}

func text(value *accessibility.Value) string { return strings.Trim(string(value.Value), `"`) }

// contrasts is every text in view whose contrast with its ground is below what
// WCAG AA wants: 4.5, or 3 where it is large.
const contrasts = `(() => {
	const rgb = (c) => { const m = c.match(/[\d.]+/g).map(Number); return {r: m[0], g: m[1], b: m[2], a: m[3] ?? 1}; };
	const light = ({r, g, b}) => { const [x, y, z] = [r, g, b].map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
	const over = (top, under) => ({r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1});
	const ground = (e) => {
		if (!e) { return {r: 255, g: 255, b: 255, a: 1}; }
		const shape = e instanceof SVGTextElement && (e.parentElement.querySelector('.part-box, .token-shape'));
		const style = getComputedStyle(shape && !/name|note/.test(e.getAttribute('class').replace('part-name', '')) ? shape : e);
		const color = shape && style.fill.startsWith('rgb') ? rgb(style.fill) : rgb(style.backgroundColor);
		return color.a === 1 ? color : over(color, ground(e.parentElement));
	};
	const low = [];
	let n = 0;
	for (const e of document.querySelectorAll('body *')) {
		if (e.closest('.hidden, .skip, noscript, defs') || e.disabled || ![...e.childNodes].some((c) => c.nodeType === 3 && c.data.trim()) || !e.getClientRects().length) { continue; }
		const style = getComputedStyle(e);
		const color = rgb(e instanceof SVGElement ? style.fill : style.color);
		const under = ground(e);
		const [a, b] = [light(over(color, under)), light(under)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		const size = parseFloat(style.fontSize);
		n++;
		if (ratio < (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5)) {
			low.push(e.textContent.trim().slice(0, 40) + ' (' + (e.getAttribute('class') ?? e.tagName) + '): ' + ratio.toFixed(2));
		}
	}
	return {low, n};
})()`

// readable fails unless each text of the page, of which there are so many at least, can be read
// on its ground, and nothing is wider than the screen.
func (b *tab) readable(page string, least int) {
	b.Helper()
	found := value[struct {
		Low []string `json:"low"`
		N   int      `json:"n"`
	}](b, contrasts)
	for _, low := range found.Low {
		b.Errorf("%s: too little contrast: %s", page, low)
	}
	if found.N < least {
		b.Errorf("%s: only %d texts were looked at", page, found.N)
	}
	if wide := value[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
		b.Errorf("%s is %d pixels wider than the screen", page, wide)
	}
}

// On a phone the rows of a table stay in place when one of them is chosen, and no column is cut off.
func TestPhone(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.add(example().born()...)
	b := open(t, serve(t, s.History, page.Options{}), phone)
	b.sees("#objects-table", "default/example-foo")
	const row = `Math.round(document.querySelector('#objects-table tbody tr').getBoundingClientRect().top)`
	b.run(`document.querySelector('#objects-title').scrollIntoView()`)
	before := value[int](b, row)
	b.click("#objects-table button")
	b.sees("#panel .history", "Reconcile: ended")
	if after := value[int](b, row); after < before-2 || after > before+2 {
		t.Errorf("the row that was chosen moves from %d to %d", before, after)
	}
	if cut := value[int](b, `[...document.querySelectorAll('.tables td, .tables th')].filter((e) => e.getBoundingClientRect().right > innerWidth).length`); cut > 0 {
		t.Errorf("%d cells are cut off at the right", cut)
	}
}

func TestContrastAndWidth(t *testing.T) {
	t.Parallel()
	s := newScript()
	f := example()
	s.add(f.born()...)
	s.add(f.conflict()...)
	// With these the palette is used up.
	for _, kind := range []string{"Project", "Bar", "Baz", "Job", "Node"} {
		s.add(trace.Step{Part: trace.PartStore, What: trace.Added, Kind: kind, Key: "default/one"})
	}
	b := open(t, serve(t, s.History, page.Options{Notice: "a notice"}), laptop)
	b.sees("#objects-table", "default/example-foo")
	b.sees(".legend", "Node")
	for name, l := range map[string]look{
		"laptop light": laptop,
		"laptop dark":  {width: 1440, height: 1000, dark: true},
		"small phone":  {width: 320, height: 640, phone: true},
	} {
		b.turns(l)
		b.until(`new Set([...document.querySelectorAll('.legend .chip[class*=kind-]')].map((e) => getComputedStyle(e).color)).size === 7`)
		b.click(`#objects-table button[data-subject^="Foo "]`)
		b.sees("#panel", "409 Conflict")
		b.readable(name, 60)
		b.click("#panel .close")
	}
}
