//go:build page

package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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

// acts fills the fields, presses a button and waits for the answer: "BUTTON [FOO DEPLOYMENT
// REPLICAS]".
func (b *tab) acts(words string) {
	b.Helper()
	do, fields, _ := strings.Cut(words, " ")
	for i, text := range strings.Fields(fields) {
		b.do(chromedp.SetValue(chromedp.CSS([]string{"#foo", "#deployment", "#replicas"}[i]), text))
	}
	before := value[int](b, `document.querySelectorAll('#log .answered').length`)
	if button := `[data-do="` + do + `"]`; b.byKeys {
		b.press(button, " ")
	} else {
		b.click(button)
	}
	b.until(fmt.Sprintf(`document.querySelectorAll('#log .answered').length === %d`, before+1))
}

// It lives on any web space, in a folder of it as well; the other tests open it from disk.
func TestPlaygroundLives(t *testing.T) {
	host := httptest.NewServer(http.StripPrefix("/folder/", http.FileServerFS(os.DirFS(site(t)))))
	t.Cleanup(host.Close)
	b := open(t, host.URL+"/folder/playground.html", laptop)
	b.row("foos", "example-foo example-foo 2 2 True Available")
	b.sees("#objects-table", "default/example-foo")
}

// Each thing that a visitor can do is a button or a switch, and leads to the same as in
// internal/playground, where more of it is tested. Here by keys alone, where the window is narrow
// and motion is reduced; the tour is done with a mouse, on a desktop.
func TestPlaygroundActions(t *testing.T) {
	still := phone
	still.still = true
	b := play(t, still, "")
	b.byKeys = true
	b.row("foos", "example-foo example-foo 2 2 True Available")
	for _, test := range []struct{ do, table, want string }{
		{"create other theirs 1", "foos", "other theirs 1 1 True Available"},
		{"scale other theirs 3", "foos", "other theirs 3 3 True Available"},
		{"rename other renamed 3", "deployments", "renamed 3/3 3 nginx:1.29 Foo other"},
		{"delete-orphan other renamed 3", "deployments", "renamed 3/3 3 nginx:1.29"},
		{"take-name a mine 1", "deployments", "mine 1/1 1 theirs:1"},
		{"create a mine 1", "foos", "a mine 1 0 False NameTaken"},
		{"delete-deployment a mine 1", "foos", "a mine 1 1 True Available"},
		{"quota; delete-deployment a mine 1", "foos", "a mine 1 0 False Forbidden"},
		{"quota", "foos", "a mine 1 1 True Available"},
		{"hold; scale-deployment a mine 5", "deployments", "mine 5/5 5 nginx:1.29 Foo a"},
		{"hold", "deployments", "mine 1/1 1 nginx:1.29 Foo a"},
		{"cut; forget; start; kill; scale a mine 2", "foos", "a mine 2 2 True Available"},
		{"webhook; webhook; lose; lose; busy; scale a mine 3", "foos", "a mine 3 3 True Available"},
		{"busy; slow; scale a mine 4", "foos", "a mine 4 4 True Available"},
		{"set-image a mine 4", "deployments", "mine 4/4 4 nginx:1.29 Foo a"},
		{"deaf-to-deletion; deaf-to-names; no-retry; no-owner; no-rename; deletes-first; exits-on-5xx; scale a mine 5", "foos", "a mine 5 5 True Available"},
		{"none; delete-foreground a mine 4; delete-background example-foo mine 4", "deployments", "renamed 3/3 3 nginx:1.29"},
	} {
		for words := range strings.SplitSeq(test.do, "; ") {
			b.acts(words)
		}
		b.row(test.table, test.want)
	}
	b.until(`document.querySelectorAll('#foos tbody tr').length === 0 && document.querySelectorAll('#deployments tbody tr').length === 1`)
}

// Each lesson of the tour notices when its task is done, and not before.
func TestPlaygroundTour(t *testing.T) {
	folder := site(t)
	b := play(t, laptop, "#create+a+a+1")
	b.row("foos", "a a 1 1 True Available")
	for i, steps := range []string{
		"create b b 1",
		"scale-deployment a a 7",
		"delete-deployment a a 1",
		"rename b new 1",
		"rename b a 1; delete-background a a 1",
		"quota; delete-deployment b a 1; ; quota",
		"create c a 1; hold; delete-deployment b a 1; hold",
		"start; kill; scale b a 4",
	} {
		b.sees("#nth", fmt.Sprintf("%d / 8", i+1))
		if !value[bool](b, `document.querySelector('#did').hidden`) {
			t.Errorf("lesson %d is done before it has begun", i+1)
		}
		for step := range strings.SplitSeq(steps, "; ") {
			if step == "" {
				b.row("foos", "b a 1 0 False Forbidden")
			} else {
				b.acts(step)
			}
		}
		b.until(`!document.querySelector('#did').hidden`)
		link := value[string](b, `document.querySelector('#tour > li:not([hidden]) a').getAttribute('href')`)
		if _, err := os.Stat(filepath.Join(folder, link)); err != nil {
			t.Error(err)
		}
		if i < 7 {
			b.press("#later", kb.Enter)
		}
	}
	link := value[string](b, `location.hash`)
	b.do(chromedp.Reload())
	b.sees("#nth", "8 / 8")
	b.sees("#loaded", "Doing again") // What was done, all of it, even if the page is left now.
	if got := value[string](b, `location.hash`); got != link {
		t.Errorf("while the link is done again it is %s, want %s", got, link)
	}
}

// The editor gets, applies and says what is wrong, and a link has what was written. A text that
// is refused stays.
func TestPlaygroundEditor(t *testing.T) {
	b := play(t, phone, "#create+a+a+1")
	b.row("foos", "a a 1 1 True Available")
	b.click("#visit summary")
	b.acts("apply")
	b.row("foos", "written written 2 2 True Available")
	b.acts("get-foo a")
	const yaml, bad = `document.querySelector('#yaml').value`, "kind: Foo\nspec: {replica: "
	b.until(yaml + `.includes('\n  name: a\n')`)
	b.run(yaml + ` = ` + yaml + `.replace('replicas: 1', 'replicas: 3')`)
	b.acts("apply")
	b.row("foos", "a a 3 3 True Available")
	link := value[string](b, `document.querySelector('#link').href`)
	b.do(chromedp.SetValue(chromedp.CSS("#yaml"), bad))
	b.click(`[data-do="apply"]`)
	b.sees("#refused", "yaml: line 2")
	if got := value[string](b, yaml); got != bad {
		t.Errorf("the editor has %q, want what was written", got)
	}

	b = play(t, laptop, link[strings.Index(link, "#"):])
	b.row("foos", "a a 3 3 True Available")
	b.row("foos", "written written 2 2 True Available")
	b.click("#visit summary")
	b.do(chromedp.SetValue(chromedp.CSS("#yaml"), "apiVersion: samplecontroller.k8s.io/v1alpha1\nkind: Foo\nmetadata: {name: long}\nspec: {deploymentName: long}\n#"+strings.Repeat("长", 900)))
	b.acts("apply")
	b.row("foos", "long long 1 1 True Available")
	b.sees("#long", "too long")
}

// A link leads to the same table, and one that says something else does nothing.
func TestPlaygroundLinks(t *testing.T) {
	b := play(t, phone, "#create+a+b+1;scale+a+3")
	b.row("foos", "a b 3 3 True Available")
	link := value[string](b, `document.querySelector('#link').href`)
	if !strings.HasSuffix(link, "#create+a+b+1;scale+a+3") {
		t.Errorf("the link of this state is %s", link)
	}
	b.sees("#caption", "Quiet") // What travels may be anywhere.
	b.readable("playground", 20)
	b.click("#language")
	b.sees("#doing [lang=zh-CN]", "你是用户")
	b.until(`document.querySelector('#doing [lang=en]').getClientRects().length === 0`)

	b = play(t, laptop, "#create+%3Cimg%20src=x%3E;drop+tables")
	b.row("foos", "example-foo example-foo 2 2 True Available")
}

// Where the program cannot run the recording plays.
func TestPlaygroundWithoutProgram(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(site(t))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "playground", "part1.js")); err != nil {
		t.Fatal(err)
	}
	b := open(t, "file://"+filepath.Join(folder, "playground.html"), laptop)
	b.sees("#loading", "part1.js is not there")
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#picture")))
	b.sees("#state", "recording.json")
	b.until(running)
	b.until(`document.querySelector('#visit').disabled`)
	b.forgive("ERR_FILE_NOT_FOUND")
}

// TestPlaygroundNumbers prints how soon the program lives, what 50 Foos cost the page, and how
// much memory that takes: go test -tags page -v -run TestPlaygroundNumbers.
func TestPlaygroundNumbers(t *testing.T) {
	l := laptop
	l.unwitnessed = true
	b := play(t, l, "")
	b.row("foos", "example-foo example-foo 2 2 True Available")
	marks := value[map[string]float64](b, `Object.fromEntries(performance.getEntriesByType('mark').map((mark) => [mark.name, mark.startTime / 1000]))`)
	b.run(`
		window.long = [0];
		new PerformanceObserver((list) => list.getEntries().forEach((entry) => long.push(entry.duration))).observe({type: 'longtask'});
		for (let n = 0; n < 50; n++) {
			setTimeout(() => { document.querySelector('#foo').value = document.querySelector('#deployment').value = 'foo-' + n; document.querySelector('[data-do=create]').click(); }, n * 20);
		}`)
	b.until(`[...document.querySelectorAll('#foos tbody tr')].filter((row) => row.cells[5].textContent === 'Available').length === 51`)
	longest := value[float64](b, `Math.max(...long)`)
	memory := b.rendererMemory()
	t.Logf("after the page was opened the program was loaded in %.1f s, live in %.1f s; with 50 Foos the longest task of the main thread takes %.0f ms (0: none over 50), and the renderer %d MB", marks["loaded"], marks["live"], longest, memory>>20)
	if memory>>20 > 400 {
		t.Errorf("the renderer takes %d MB, want at most 400", memory>>20)
	}
}

// rendererMemory is the memory of the largest process that draws pages for this browser, with
// its part of what it shares.
func (b *tab) rendererMemory() (bytes int64) {
	b.Helper()
	out, err := exec.Command("sh", "-c", `ps -eo pss=,args= --sort=-pss | grep -e "--type=renderer.*$0" | head -1`, b.profile).Output()
	if _, scanned := fmt.Sscan(string(out), &bytes); err != nil || scanned != nil {
		b.Errorf("ps (of procps) shows no renderer: %v %q", err, out)
	}
	return bytes << 10
}
