//go:build page

package browser

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/byhand/internal/page"
)

var foos = flag.Int("foos", 5000, "how many Foos TestManyObjects starts with")

// TestManyObjects sends a cold start at the speed of the real one, some 400 Foos
// a second, reports how long the browser's frames take, and fails only on what is
// shown.
func TestManyObjects(t *testing.T) {
	s := newScript()
	b := open(t, serve(t, s.History, page.Options{}), look{width: laptop.width, height: laptop.height, unwitnessed: true})
	b.sees("#state", "live")
	b.do(chromedp.Evaluate[chromedp.Void](`
		window.frames_ = [];
		let before = performance.now();
		requestAnimationFrame(function frame(now) {
			frames_.push(now - before);
			before = now;
			requestAnimationFrame(frame);
		});`))

	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	began := time.Now()
	for n := 0; n < *foos; {
		for range 20 {
			f := &foo{namespace: fmt.Sprintf("team-%d", n%7), name: fmt.Sprintf("foo-%05d", n), deployment: fmt.Sprintf("foo-%05d", n), replicas: 2, version: n}
			s.add(f.born()...)
			n++
		}
		if n == *foos/2/20*20 {
			b.shot("half")
			if tokens := value[int](b, `document.querySelectorAll('.token').length`); tokens == 0 || tokens > 24 {
				t.Errorf("%d tokens travel, want a sample of at most 24", tokens)
			}
		}
		<-pace.C
	}
	sent := time.Since(began)
	b.sees(".part-store .part-number", fmt.Sprintf("%s objects", thousands(2**foos)))
	b.sees("#found", fmt.Sprintf("40 of %s", thousands(2**foos)))
	seen := time.Since(began)
	b.shot("all")
	if lost := value[string](b, `document.querySelector('#notices').textContent`); lost != "" {
		t.Errorf("the page says %q", lost)
	}

	frames := value[[]float64](b, `frames_`)
	memory := value[int](b, `performance.memory?.usedJSHeapSize ?? 0`)
	slices.Sort(frames)
	at := func(p float64) float64 { return frames[int(p*float64(len(frames)-1))] }
	t.Logf("%d Foos, %d steps in %.1f s, seen after %.1f s: %d frames, median %.1f ms, 95th percentile %.1f ms, 99th %.1f ms, longest %.1f ms; heap %d MiB",
		*foos, len(s.kept), sent.Seconds(), seen.Seconds(), len(frames), at(0.5), at(0.95), at(0.99), at(1), memory>>20)

	// One of them is found by its name, and is alive.
	last := &foo{namespace: "team-3", name: "foo-00003", deployment: "foo-00003", replicas: 2, version: 1 << 20}
	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "foo-00003"))
	b.sees("#found", "2 objects")
	s.add(last.scale(5)...)
	b.sees("#objects-table .badge", "scaled 2 → 5")
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
