//go:build page

package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// phone has a common width.
var phone = look{width: 390, height: 844, phone: true}

// site returns the folder of the site, as make site writes it. No test changes it.
func site(t *testing.T) string {
	t.Helper()
	out, err := writeSite()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var writeSite = sync.OnceValues(func() (string, error) {
	out, err := filepath.Abs("../../../bin/site")
	if err != nil {
		return "", err
	}
	write := exec.Command("go", "run", ".", "-out", out)
	write.Dir, write.Stderr = "..", os.Stderr
	return out, write.Run()
})

// visit opens a page of the site as a file.
func (b *tab) visit(folder, page string) {
	b.Helper()
	b.do(chromedp.Navigate("file://" + filepath.ToSlash(filepath.Join(folder, page))))
}

// arrives waits until the expression is true after a link. While one page replaces another, evaluations
// fail.
func (b *tab) arrives(expression string) {
	b.Helper()
	for until := time.Now().Add(*patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression)); err == nil && there {
			return
		}
	}
	b.shot("failed")
	b.Fatalf("never true: %s", expression)
}

// From disk, without a network, every kind of page can be read, on a desktop and on a phone, in light
// and in dark. Nothing is wider than the screen. On a desktop, the code is at the right of its comment.
func TestSiteCanBeRead(t *testing.T) {
	t.Parallel()
	const source = "read/controller/foo/reconcile.go.html"
	folder := site(t)
	dark := phone
	dark.dark = true
	b := open(t, "file://"+filepath.Join(folder, source), laptop)
	aside := value[bool](b, `((pair) => pair.querySelector('.code').getBoundingClientRect().left > pair.querySelector('.doc > div').getBoundingClientRect().right)(document.getElementById('Reconciler.Reconcile'))`)
	if !aside {
		t.Error("the code is not at the right of its comment")
	}
	command(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: true})
	for _, page := range []string{
		source, "read/README.md.html", "read/docs/zh-CN/README.md.html", "read/docs/questions.md.html",
		"read/docs/results.md.html", "read/config/crd/foos.samplecontroller.k8s.io.yaml.html",
	} {
		b.visit(folder, page)
		for name, l := range map[string]look{"desktop light": laptop, "phone dark": dark} {
			b.turns(l)
			b.shot(name + "-" + strings.NewReplacer("/", "-", ".html", "").Replace(page))
			b.readable(page+", "+name, 20)
		}
	}
}

// contrasts returns every visible text whose contrast with its background is below WCAG AA: 4.5, or 3
// for large text.
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

// readable fails unless the page has at least so many texts, each is readable on its background, and
// nothing is wider than the screen.
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
