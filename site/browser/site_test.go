//go:build page

package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// phone is as wide as most.
var phone = look{width: 390, height: 844, phone: true}

// site is the folder of the site, as make site writes it. No test changes it.
func site(t *testing.T) string {
	t.Helper()
	out, err := writeSite()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var writeSite = sync.OnceValues(func() (string, error) {
	out, err := filepath.Abs("../../bin/site")
	if err != nil {
		return "", err
	}
	write := exec.Command("go", "run", ".", "-out", out)
	write.Dir, write.Stderr = "..", os.Stderr
	return out, write.Run()
})

// visit goes to a page of the site, as a file.
func (b *tab) visit(folder, page string) {
	b.Helper()
	b.do(chromedp.Navigate("file://" + filepath.ToSlash(filepath.Join(folder, page))))
}

// arrives waits until a link has led to where the expression is true. While one page takes
// the place of another nothing can be asked.
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

// sitePages are one page of each kind, and those with the longest lines.
var sitePages = []string{
	"read/README.md.html", "read/README.zh-CN.md.html", "read/QUESTIONS.md.html", "read/QUESTIONS.zh-CN.md.html", "read/compare/results/README.md.html",
	"read/config/crd/foos.samplecontroller.k8s.io.yaml.html",
	"read/controller/doc.go.html", "read/controller/foo/reconcile.go.html", "read/chapters/at/README.md.html",
}

// From disk, without a network: every kind of page can be read, on a desktop and on a
// phone, in light and in dark, and nothing is wider than the screen. Of the first page, other
// tests see to it.
func TestSiteCanBeRead(t *testing.T) {
	t.Parallel()
	folder := site(t)
	dark := phone
	dark.dark = true
	b := open(t, "file://"+filepath.Join(folder, sitePages[0]), laptop)
	command(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: true})
	for _, page := range sitePages {
		b.visit(folder, page)
		for name, l := range map[string]look{"desktop light": laptop, "phone dark": dark} {
			b.turns(l)
			b.shot(name + "-" + strings.NewReplacer("/", "-", ".html", "").Replace(page))
			b.readable(page+", "+name, 20)
		}
	}
}

// The answers are folded, and the page counts those that were opened and those that were known.
func TestSiteQuestions(t *testing.T) {
	for page, count := range map[string]string{
		"QUESTIONS.md":       "60 questions, %d opened, %[1]d known",
		"QUESTIONS.zh-CN.md": "共 60 题，已展开 %d 题，答对 %[1]d 题",
	} {
		b := open(t, "file://"+filepath.Join(site(t), "read", page+".html"), laptop)
		b.sees(".score", fmt.Sprintf(count, 0))
		b.click("details summary")
		b.click("details[open] input")
		b.sees(".score", fmt.Sprintf(count, 1))
		b.click("details summary")
		b.sees(".score", fmt.Sprintf(count, 1))
	}
}

// Comment and code stand side by side where there is room, and below each other on a
// phone.
func TestSiteSideBySide(t *testing.T) {
	t.Parallel()
	folder := site(t)
	const distances = `(() => {
		const pair = document.getElementById('Reconciler.Reconcile');
		const [doc, code] = [pair.querySelector('.doc > div'), pair.querySelector('.code')].map((e) => e.getBoundingClientRect());
		return {aside: code.left - doc.right, below: code.top - doc.bottom};
	})()`
	type distance struct{ Aside, Below float64 }
	b := open(t, "file://"+filepath.Join(folder, "read/controller/foo/reconcile.go.html"), laptop)
	if at := value[distance](b, distances); at.Aside < 0 {
		t.Errorf("on a desktop the code is at %+v of its comment, want it aside", at)
	}
	b.turns(phone)
	if at := value[distance](b, distances); at.Below < 0 {
		t.Errorf("on a phone the code is at %+v of its comment, want it below", at)
	}
}

// By keys alone: past the menu, along the menu, from file to file; and one sees where one
// is.
func TestSiteKeyboard(t *testing.T) {
	t.Parallel()
	folder := site(t)
	b := open(t, "file://"+filepath.Join(folder, "read/controller/queue.go.html"), laptop)
	got := strings.Join(b.tabs(), " | ")
	const first, then = "Skip to the content | byhand | Try it | Read and run it | Questions | 中文 | ", "| ← Previous controller/handlers.go | "
	if !strings.HasPrefix(got, first) || !strings.Contains(got, then) {
		t.Errorf("Tab goes to %s\nwant %s … %s …", got, first, then)
	}
	b.press(`[rel="next"]`, kb.Enter)
	b.arrives(`document.querySelector('h1')?.textContent === 'controller/controller.go'`)
}
