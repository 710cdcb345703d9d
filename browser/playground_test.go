//go:build page

package browser

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// play opens the playground from disk, with a link's state, and waits until the program in
// the tab has made the Deployment.
func play(t *testing.T, l look, hash string) *tab {
	t.Helper()
	b := open(t, "file://"+filepath.ToSlash(filepath.Join(site(t), "playground.html"))+hash, l)
	b.until(`!document.querySelector('#visit').disabled`)
	return b
}

// row waits for a row of a table, as kubectl prints it.
func (b *tab) row(table, text string) {
	b.Helper()
	b.until(fmt.Sprintf(`[...document.querySelectorAll('#%s tbody tr')].some((row) => [...row.cells].map((cell) => cell.textContent).join(' ').trim() === %q)`, table, text))
}

func (b *tab) fill(field, text string) {
	b.Helper()
	b.do(chromedp.SetValue(chromedp.CSS("#"+field), text))
}

func TestPlaygroundLives(t *testing.T) {
	b := play(t, laptop, "")
	b.row("foos", "example-foo example-foo 2 2 True Available")
	b.sees("#objects-table", "default/example-foo")
	b.shot("live")
}
