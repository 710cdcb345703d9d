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
	out, err := filepath.Abs("../../../bin/site")
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

// From disk, without a network: every kind of page can be read, on a desktop and on a phone, in light
// and in dark, and nothing is wider than the screen. On a desktop, the code is at the right of its
// comment.
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
