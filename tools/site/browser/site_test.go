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
	const rgb = (color) => color.match(/[\d.]+/g).map(Number);
	const light = (color) => rgb(color).slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ground = (e) => {
		const color = e ? getComputedStyle(e).backgroundColor : 'rgb(255, 255, 255)';
		return (rgb(color)[3] ?? 1) === 1 ? color : ground(e.parentElement);
	};
	const texts = [...document.querySelectorAll('body *:not(svg *)')].filter((e) => !e.closest('.hidden, .skip, noscript') && !e.disabled && e.getClientRects().length
		&& [...e.childNodes].some((c) => c.nodeType === 3 && c.data.trim()));
	const low = texts.filter((e) => {
		const {color, fontSize, fontWeight} = getComputedStyle(e);
		const [a, b] = [light(color), light(ground(e))].sort((x, y) => y - x);
		const large = parseFloat(fontSize) >= 24 || parseFloat(fontSize) >= 18.66 && fontWeight >= 700;
		return (a + 0.05) / (b + 0.05) < (large ? 3 : 4.5);
	});
	return {low: low.map((e) => e.textContent.trim().slice(0, 40)), n: texts.length};
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
