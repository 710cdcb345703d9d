//go:build page

package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/byhand/internal/observe/page"
)

// TestManyObjects sends a cold start at its real speed, some 400 Foos a second. A sample of the objects
// travels; all of them are counted and can be found.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	s := newScript()
	b := open(t, serve(t, s.History, page.Options{}), look{width: laptop.width, height: laptop.height, unwitnessed: true})
	b.sees("#state", "live")
	// A picture without tokens for an instant is no failure, so the page records the maximum.
	b.run(`
		window.most = 0;
		new MutationObserver(() => { most = Math.max(most, document.querySelectorAll('.token').length); }).observe(document.querySelector('.lane'), {childList: true});`)
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	for n := 0; n < 2000; {
		for range 20 {
			f := &foo{namespace: fmt.Sprintf("team-%d", n%7), name: fmt.Sprintf("foo-%05d", n), deployment: fmt.Sprintf("foo-%05d", n), replicas: 2, version: n}
			s.add(f.born()...)
			n++
		}
		<-pace.C
	}
	b.sees(".part-store .part-number", "4,000 objects")
	b.sees("#found", "40 of 4,000")
	b.until(`most > 0`)
	if tokens := value[int](b, `most`); tokens > 24 {
		t.Errorf("%d tokens travel at a time, want a sample of at most 24", tokens)
	}
	if lost := value[string](b, `document.querySelector('#notices').textContent`); lost != "" {
		t.Errorf("the page says %q", lost)
	}

	// One of them is found by its name, and still updates.
	last := &foo{namespace: "team-3", name: "foo-00003", deployment: "foo-00003", replicas: 2, version: 1 << 20}
	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "foo-00003"))
	b.sees("#found", "2 objects")
	s.add(last.scale(5)...)
	b.sees("#objects-table .badge", "scaled 2 → 5")
}
