//go:build page

package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// play opens the playground from disk, with a link's state, and waits until it is there and the
// page is the visitor's. What is in view for moments only is not noted.
func play(t *testing.T, l look, hash string) *tab {
	t.Helper()
	l.unwitnessed = true
	return playSeen(t, l, hash)
}

// playSeen is play with a witness.
func playSeen(t *testing.T, l look, hash string) *tab {
	t.Helper()
	b := open(t, "file://"+filepath.ToSlash(filepath.Join(site(t), "playground.html"))+hash, l)
	b.until(theirs)
	return b
}

// follows follows a link to another state, and waits until the page is the visitor's.
func (b *tab) follows(hash string) {
	b.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`new Promise((followed) => {
		addEventListener('hashchange', followed, {once: true});
		location.hash = %q;
	})`, hash), chromedp.EvalAwaitPromise))
	b.until(lesson + `.dataset.phase === 'asks'`)
}

// theirs says that the page is the visitor's.
const theirs = `!document.querySelector('#visit').disabled && ` + lesson + `.dataset.phase === 'asks'`

// lesson is the one that is shown.
const lesson = `document.querySelector('#tour > form:not([hidden])')`

// row waits for a row of a table, as kubectl prints it.
func (b *tab) row(table, text string) {
	b.Helper()
	b.until(fmt.Sprintf(`[...document.querySelectorAll('#%s tbody tr:not(.gone)')].some((row) => [...row.cells].map((cell) => cell.textContent).join(' ').trim() === %q)`, table, text))
}

// push presses a button, with the mouse or by keys.
func (b *tab) push(selector string) {
	b.Helper()
	if b.byKeys {
		b.press(selector, " ")
	} else {
		b.click(selector)
	}
}

// drawer opens the drawer in which that button is.
func (b *tab) drawer(button string) {
	b.Helper()
	if id := value[string](b, fmt.Sprintf(`((drawer) => drawer.matches(':popover-open') ? '' : drawer.id)(document.querySelector('%s').closest('.drawer'))`, button)); id != "" {
		b.push(fmt.Sprintf("[popovertarget=%s]", id))
	}
}

// acts opens the drawer of a button, fills the fields, presses the button and waits for the
// answer: "BUTTON [FOO DEPLOYMENT REPLICAS]".
func (b *tab) acts(words string) {
	b.Helper()
	do, fields, _ := strings.Cut(words, " ")
	button := `[data-do="` + do + `"]`
	b.drawer(button)
	for i, text := range strings.Fields(fields) {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector('#%s').value = %q", []string{"foo", "deployment", "replicas"}[i], text)))
	}
	before := value[int](b, `document.querySelectorAll('#log .answered').length`)
	b.push(button)
	b.until(fmt.Sprintf(`document.querySelectorAll('#log .answered').length === %d`, before+1))
}

// It is the first page: a recording plays until the program lives, all that matters stands on the
// first screen, and the panel leads to the code. It lives on any web space, in a folder of it as
// well; the other tests open it from disk.
func TestPlaygroundLives(t *testing.T) {
	t.Parallel()
	folder := site(t)
	host := httptest.NewServer(http.StripPrefix("/folder/", http.FileServerFS(os.DirFS(folder))))
	t.Cleanup(host.Close)
	b := open(t, host.URL+"/folder/", look{width: 1440, height: 900})
	b.witnessed("words", "recording.json")
	b.row("foos", "example-foo web 2 2 True Available")
	shown := value[string](b, `[...document.querySelectorAll('button, td, text')].filter((e) => ((box) => box.height > 0 && box.bottom <= innerHeight)(e.getBoundingClientRect())).map((e) => e.textContent).join('|')`)
	for _, want := range []string{"API server", "Queue", "Workers", "example-foo", "Delete the Deployment"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not on the first screen: %s", want, shown)
		}
	}
	b.click("[popovertarget=time]")
	b.sees("#objects-table", "default/example-foo")
	b.click(".part-queue")
	b.sees("#panel h2", "Queue")
	b.visit(folder, value[string](b, `document.querySelector('#panel .places a[href$="queue.go.html#Queue"]').getAttribute('href')`))
	b.arrives(`document.querySelector(':target .code')?.textContent.includes('type Queue interface')`)
}

// Each thing that a visitor can do is a button or a switch, and leads to the same as in
// internal/playground, where more of it is tested: by keys alone, where the window is narrow and
// motion is reduced. The other tests have a mouse.
func TestPlaygroundActions(t *testing.T) {
	t.Parallel()
	still := phone
	still.still = true
	b := play(t, still, "")
	b.byKeys = true
	b.row("foos", "example-foo web 2 2 True Available")
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
		{"deaf-to-deletion; deaf-to-names; no-retry; no-owner; no-rename; deletes-first; edge-triggered; exits-on-5xx; scale a mine 5", "foos", "a mine 5 5 True Available"},
		{"none; delete-foreground a mine 4; delete-background example-foo mine 4", "deployments", "renamed 3/3 3 nginx:1.29"},
	} {
		for words := range strings.SplitSeq(test.do, "; ") {
			b.acts(words)
		}
		b.row(test.table, test.want)
	}
	b.until(`document.querySelectorAll('#foos tr:not(.gone, .note) td').length === 0 && document.querySelectorAll('#deployments tbody tr:not(.gone, .note)').length === 1`)
}

// In each lesson the visitor has to answer and to act, sees what came of it, and goes on. No lesson
// is over before its act. In Chinese all of the page is, whatever is shown of whatever is done, but
// terms and names, and a click away it is all in English.
func TestPlaygroundLessons(t *testing.T) {
	t.Parallel()
	folder := site(t)
	b := play(t, laptop, "")
	b.click("#language")
	b.do(chromedp.Evaluate[chromedp.Void](`
		window.shown = new Set();
		window.foreign = () => {
			if (document.documentElement.lang === 'en') { return; }
			const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
				node.matches?.('script, style, noscript, textarea, code, pre, [translate=no], #summary') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
			for (let node; (node = walker.nextNode());) {
				const texts = node.nodeType === 3 ? [node.data] : ['title', 'aria-label', 'aria-valuetext'].map((name) => node.getAttribute(name) ?? '');
				texts.filter((text) => /[A-Za-z]{2}/.test(text.replace(` + terms + `, ''))).forEach((text) => shown.add(text.trim()));
			}
		};
		setInterval(foreign, 300);`))
	for i, want := range []struct{ row, last string }{
		{"deleted → created · ", "1 DELETE by you, "},
		{"replicas 2 → 5 → 9 → 2 · ", "A controller is started, "},
		{"server: replicas 3 · the controller's store: replicas 2", "1 PATCH by you, "},
		{"deleted · the garbage collector's DELETE", "1 DELETE by you, 1 DELETE by the garbage collector, "},
		{"NameTaken", "1 POST by you, "},
		{"replicas 2 → 4 · the controller's PUT", "1 PUT (409), "},
		{"next try in ", " POSTs (403)"},
		{"deleted → created · ", "1 POST "},
		{"replicas 2 → 4 · the controller's PUT", " is killed, 1 PATCH by you, "},
		{"deleted · you", "1 DELETE by you, "},
	} {
		b.sees("#nth", fmt.Sprintf("第 %d / 10 课", i+1))
		b.until(lesson + `.dataset.phase === 'asks'`)
		if late := value[[]string](b, `[...document.querySelectorAll('.token')].map((e) => e.textContent).filter((text) => !text.startsWith('PATCH'))`); i == 1 && len(late) > 0 {
			t.Errorf("the controller is stopped, and it seems to send: %q", late)
		}
		if open := value[bool](b, lesson+`.checkValidity()`); open != (i == 0) {
			t.Errorf("lesson %d: before an answer is chosen one can act: %t", i+1, open)
		}
		b.click("#tour > form:not([hidden]) .guess " + []string{"input:not([data-right])", "input[data-right]"}[i%2])
		b.click("#tour > form:not([hidden]) .first")
		b.until(lesson + `.dataset.phase === 'seen'`)
		b.sees("#nth", fmt.Sprintf(" · %d ✓ %d ✗", (i+1)/2, (i+2)/2))
		b.until(fmt.Sprintf(lesson+`.querySelector('details').open === %t`, i%2 == 0)) // A wrong answer is told why.
		b.run("foreign()")
		b.shot(fmt.Sprint(i + 1))
		b.click("#language")
		b.sees(".objects tbody tr", want.row)
		b.sees("#last", want.last)
		b.until(lesson + `.querySelector('.seen').getClientRects().length > 0`)
		link := value[string](b, lesson+`.querySelector('.code-at a').getAttribute('href')`)
		if _, err := os.Stat(filepath.Join(folder, link)); err != nil {
			t.Error(err)
		}
		if text := value[string](b, `document.querySelector('#lessons').innerText + document.querySelector('.objects').innerText`); regexp.MustCompile(`\p{Han}`).MatchString(text) {
			t.Errorf("lesson %d: not in English: %s", i+1, text)
		}
		b.click("#language")
		b.click("#tour > form:not([hidden]) .first")
	}
	b.sees("#nth", "谜题")
	b.until(`location.hash === '#puzzle'`)
	b.follows("#lesson=1")
	b.row("deployments", "web 2/2 2 nginx:1.29 Foo example-foo")
	for _, id := range []string{"server", "stream", "store", "handler", "queue", "worker", "reconcile", "request"} {
		b.click(".part-" + id)
		b.until(`(foreign(), document.querySelector('#panel h2').textContent !== '')`)
	}
	b.click(".objects .link")
	b.sees("#panel .entry", "POST")
	if texts := value[[]string](b, `(foreign(), [...shown])`); len(texts) > 0 {
		t.Errorf("not in Chinese: %s", strings.Join(texts, "\n"))
	}
}

// The puzzle hides a bug, counts moves and guesses, and says in the end where it is.
func TestPlaygroundPuzzle(t *testing.T) {
	t.Parallel()
	b := play(t, laptop, "#puzzle")
	b.row("foos", "example-foo web 2 2 True Available")
	b.acts("scale example-foo web 3")
	b.sees("#moves", "1")
	b.drawer("[data-do=no-retry]")
	if named := value[int](b, `document.querySelectorAll('#wrong [aria-pressed=true], #on button').length`); named > 0 {
		t.Error("the bug is named before it is found")
	}
	b.do(chromedp.Evaluate[chromedp.Void](`for (const button of document.querySelectorAll('#wrong [data-send]')) { button.dataset.do !== 'none' && button.click(); }`))
	b.sees("#solved", " moves.")
	const link = `document.querySelector('#challenge').getAttribute('href')`
	score, found := value[string](b, `document.querySelector('#solved').textContent`), value[string](b, link)
	if told := value[string](b, `document.querySelector('#truth').innerText`); strings.Count(told, ".go") != 1 {
		t.Errorf("what is true of the bug: %s", told)
	}
	b.until(lesson + `.dataset.phase === 'seen'`)
	b.shot("found")

	// The link has the score and the same bug, and does not name it.
	b.follows("#lesson=1")
	b.follows(found)
	moves := regexp.MustCompile(`\d+ moves`).FindString(score)
	b.sees("#beat", moves)
	if strings.Contains(found, "-") || !strings.HasSuffix(found, "&moves="+strings.Fields(moves)[0]) {
		t.Errorf("the link of %q is %s", score, found)
	}
	bug := strings.Fields(score)[1]
	b.click("#language")
	b.drawer(`[data-do="` + bug + `"]`)
	b.push(`[data-do="` + bug + `"]`)
	b.sees("#solved", bug+"，用了 1 步。")
	b.click("#language")
	b.sees("#solved", bug+" in 1 move.")
	if told := value[string](b, `document.querySelector('#lessons').innerText`); regexp.MustCompile(`\p{Han}`).MatchString(told) {
		t.Errorf("found in Chinese, it is told in English as %s", told)
	}
	b.click("#tour > form:not([hidden]) .first")
	b.until(`location.hash === '#puzzle' && document.querySelector('#beat').textContent === ''`)
}

// A lesson ends whatever else is done, by its button or by that of a drawer.
func TestPlaygroundLessonDisturbed(t *testing.T) {
	t.Parallel()
	b := play(t, laptop, "#lesson=9")
	b.acts("quota")
	b.acts("kill")
	b.until(lesson + `.dataset.phase === 'acts'`)
	b.acts("scale example-foo web 4")
	b.until(lesson + `.dataset.phase === 'seen'`)
	b.acts("delete-background example-foo web 4")
	b.click(".drawer:popover-open .close")
	b.click("#earlier")
	b.until(lesson + `.dataset.phase === 'asks'`)
	b.row("foos", "example-foo web 2 2 True Available")
	b.click("#earlier")
	b.click("#earlier")
	b.sees("#nth", "Lesson 6")
	b.until(lesson + `.dataset.phase === 'asks'`)
	b.acts("kill") // So the act of this lesson has no end.
	b.click(".drawer:popover-open .close")
	b.click("#tour > form:not([hidden]) .guess input")
	b.click("#tour > form:not([hidden]) .first")
	b.until(lesson + `.dataset.phase === 'lost'`)
	b.click("#tour > form:not([hidden]) .first")
	b.until(lesson + `.dataset.phase === 'asks'`)
	b.row("foos", "example-foo web 2 2 True Available")
}

// All of the first screen is in view without scrolling, in both languages, and none of its texts has
// three lines. Everything can be read, in the drawers as well.
func TestPlaygroundOneScreen(t *testing.T) {
	t.Parallel()
	const regions = "#lessons, .objects, #picture, #last, .drawers"
	b := play(t, laptop, "")
	for _, test := range []struct {
		name string
		look
		seen string
	}{
		{"1440x900", look{width: 1440, height: 900}, regions},
		{"1280x720", look{width: 1280, height: 720, dark: true}, regions},
		{"390x844", phone, "#lessons, #picture, #deployments"},
	} {
		b.turns(test.look)
		b.click("#again")
		for _, moment := range []string{"asks", "seen"} {
			if moment == "seen" {
				b.click("#tour > form:not([hidden]) .first")
			}
			b.until(lesson + `.dataset.phase === '` + moment + `'`)
			for range 2 {
				b.click("#language")
				b.shot(test.name + "-" + value[string](b, `document.documentElement.lang`) + "-" + moment)
				if below := value[[]string](b, `[...document.querySelectorAll('`+test.seen+`')].filter((e) => e.getBoundingClientRect().bottom > innerHeight).map((e) => e.id || e.className)`); len(below) > 0 && (moment == "asks" || !test.phone) {
					t.Errorf("%s, %s: below the screen: %q", test.name, moment, below)
				}
			}
		}
		if moved := value[float64](b, `((form, top) => { const seen = top(); form.dataset.phase = 'asks'; const asked = top(); form.dataset.phase = 'seen'; return seen - asked; })(`+lesson+`, () => document.querySelector('form:not([hidden]) legend').getBoundingClientRect().top)`); moved != 0 {
			t.Errorf("%s: what came of the act moves the question by %.0f", test.name, moved)
		}
		if cut := value[bool](b, `((cell) => { cell.textContent = 'WaitingForReplicas'; return cell.getBoundingClientRect().right > cell.closest('.scroll').getBoundingClientRect().right; })(document.querySelector('#foos tbody td:last-child'))`); cut && !test.phone {
			t.Errorf("%s: a long reason is cut", test.name)
		}
		b.until(`document.querySelectorAll('.token').length === 0`) // What travels may be anywhere.
		for range 2 {
			b.click("#language")
			name := test.name + "-" + value[string](b, `document.documentElement.lang`)
			const long = `[...document.querySelectorAll('#tour > form')].flatMap((form) => {
				const {hidden, dataset: {phase}} = form;
				form.hidden = false;
				const long = ['asks', 'seen'].flatMap((phase) => {
					form.dataset.phase = phase;
					return [...form.querySelectorAll('.say, .came, .seen > p')].filter((p) => p.offsetHeight > 2.2 * parseFloat(getComputedStyle(p).lineHeight)).map((p) => p.innerText);
				});
				form.hidden = hidden;
				form.dataset.phase = phase;
				return long;
			})`
			if texts := value[[]string](b, long); len(texts) > 0 {
				t.Errorf("%s: longer than two lines: %q", name, texts)
			}
			b.readable(name, 20)
			if strings.HasSuffix(name, "zh-CN") {
				continue // The colours are the same.
			}
			for _, drawer := range []string{"doing", "luck", "wrong", "editor", "kubectl", "time"} {
				b.click("[popovertarget=" + drawer + "]")
				b.readable(name+", "+drawer, 20)
				b.click(".drawer:popover-open .close")
			}
		}
	}
}

// With less motion, by keys alone and without sight: nothing travels, and yet each step is told; the
// focus goes on to what is to be done next; and what happened is heard once, when it is over.
func TestPlaygroundAccess(t *testing.T) {
	t.Parallel()
	b := playSeen(t, look{width: 1280, height: 720, still: true}, "")
	b.byKeys = true
	b.row("deployments", "web 2/2 2 nginx:1.29 Foo example-foo")
	order := " " + strings.Join(b.tabs(), " ")
	for _, next := range []string{" language ", " later again ", " It stays away ", " Delete the Deployment ", " example-foo ", " web ", " Actions Bad luck Bugs YAML Log, link Replay ", " server stream store handler queue worker reconcile request"} {
		_, rest, found := strings.Cut(order, strings.TrimSuffix(next, " "))
		if !found {
			t.Errorf("Tab does not go to%s after what was before that: %s", next, order)
		}
		order = rest
	}

	b.push("[popovertarget=luck]")
	b.until(`document.activeElement.id === 'luck'`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.activeElement.matches('.drawers [popovertarget=luck]') && !document.querySelector('#luck').matches(':popover-open')`)

	b.forget()
	b.run(`
		window.seen = {heard: [], moving: 0};
		new MutationObserver(() => seen.heard.push(document.querySelector('#heard').textContent)).observe(document.querySelector('#heard'), {childList: true});
		new MutationObserver(() => {
			seen.moving += document.querySelectorAll('.token').length;
			seen.moving += [...document.querySelectorAll('.part-glow')].filter((e) => !['0', '1'].includes(e.getAttribute('opacity') ?? '0')).length;
			seen.moving += document.getAnimations().filter(({effect}) => new Set(effect.getKeyframes().map((frame) => frame.backgroundColor)).size > 1).length;
		}).observe(document.querySelector('.play'), {subtree: true, childList: true, attributes: true});`)
	b.push("#tour > form:not([hidden]) .first")
	b.until(lesson + `.dataset.phase === 'seen' && document.activeElement === ` + lesson + `.querySelector('.first')`)
	b.sees("#heard", "1 DELETE by you, 1 POST ")
	b.sees("#heard", "web: deleted → created · ")
	b.witnessed("captions", "Deployment deleted")
	b.until(`witness.captions.size > 3`)
	heard := value[[]string](b, `seen.heard`)
	if len(heard) > 3 {
		t.Errorf("one action is heard %d times: %q", len(heard), heard)
	}
	if moving := value[int](b, `seen.moving`); moving > 0 {
		t.Errorf("%d things move", moving)
	}
	b.push("#tour > form:not([hidden]) .first")
	b.sees("#nth", "Lesson 2")
	b.until(`document.activeElement.matches('[name=guess-1]')`)
	if live := value[string](b, `[...document.querySelectorAll('main [role=status], main [role=alert], [aria-live]')].filter((e) => e.id !== 'summary').map((e) => e.id).join(' ')`); live != "state loading tour wrong-guess refused notices heard" {
		t.Errorf("so much is read out as it changes: %s", live)
	}
}

// A correction is seen although it takes milliseconds, what waits is named, and so is each switch
// that is on, which one click puts back. The picture leaves out what is too late.
func TestPlaygroundShows(t *testing.T) {
	t.Parallel()
	b := playSeen(t, laptop, "")
	b.run(`
		window.unread = new Set(); // A caption stood too briefly, or a label covered the name of a part.
		let said = document.querySelector('#caption').textContent, since = -Infinity;
		const boxes = (selector) => [...document.querySelectorAll(selector)].map((e) => e.getBoundingClientRect());
		requestAnimationFrame(function frame(now) {
			const text = document.querySelector('#caption').textContent;
			if (text !== said) {
				if (now - since < 300) { unread.add(said); }
				[said, since] = [text, now];
			}
			if (boxes('.token-name').some((a) => boxes('.part-name').some((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom))) { unread.add('covered at: ' + said); }
			requestAnimationFrame(frame);
		});`)
	b.acts("scale-deployment example-foo web 7")
	b.sees("#deployments .note", "replicas 2 → 7 → 2 · ")
	b.sees("#last", "1 PATCH by you, ")
	b.sees("#last", " by the controller, ")
	b.acts("set-image example-foo web 7")
	b.sees("#deployments .note", "image nginx:1.29 → nginx:1.0 → nginx:1.29 · ")

	b.acts("delete-background example-foo web 2")
	b.witnessed("tokens", "DELETE by the garbage collector")
	b.acts("create example-foo web 2")
	b.row("foos", "example-foo web 2 2 True Available")
	b.acts("hold")
	b.acts("delete-deployment example-foo web 7")
	b.sees("#deployments .note", "server: gone · the controller's store: replicas 2")
	b.sees("#waits", "held back")
	b.sees("#caption", "held back")
	b.shot("held")
	b.click("#on button")
	b.until(`document.querySelectorAll('#on button').length === 0 && document.querySelector('#waits').textContent === ''`)

	b.acts("start")
	b.forget()
	b.acts("kill")
	b.witnessed("words", "s left")
	b.row("foos", "example-foo web 2 2 True Available")
	b.acts("quota")
	b.acts("delete-deployment example-foo web 7")
	b.sees("#foos .note", "next try in")
	b.sees(".part-queue", "0 keys wait, 1 in ")
	b.forget()
	b.do(chromedp.Evaluate[chromedp.Void](`for (let n = 0; n < 20; n++) { document.querySelector('[data-do=scale]').click(); }`))
	b.witnessed("tokens", "left out")
	if unread := value[[]string](b, `[...unread]`); len(unread) > 0 {
		t.Errorf("one cannot read %q", unread)
	}
}

// The editor gets, applies and says what is wrong, and a link has what was written. A text that
// is refused stays.
func TestPlaygroundEditor(t *testing.T) {
	t.Parallel()
	b := play(t, phone, "#create+a+a+1")
	b.row("foos", "a a 1 1 True Available")
	b.acts("apply")
	b.row("foos", "written written 2 2 True Available")
	b.acts("get-foo a")
	const yaml, bad = `document.querySelector('#yaml').value`, "kind: Foo\nspec: {replica: "
	b.until(yaml + `.includes('\n  name: a\n')`)
	b.do(chromedp.Evaluate[chromedp.Void](yaml + ` = ` + yaml + `.replace('replicas: 1', 'replicas: 3')`))
	b.acts("apply")
	b.row("foos", "a a 3 3 True Available")
	link := value[string](b, `document.querySelector('#link').href`)
	b.do(chromedp.SetValue(chromedp.CSS("#yaml"), bad))
	b.click(`[data-do="apply"]`)
	b.sees("#refused", "yaml: line 2")
	if got := value[string](b, yaml); got != bad {
		t.Errorf("the editor has %q, want what was written", got)
	}
	b.shot("editor")

	b.follows("#lesson=1")
	b.follows(link[strings.Index(link, "#"):])
	b.row("foos", "a a 3 3 True Available")
	b.row("foos", "written written 2 2 True Available")
	b.drawer("#yaml")
	b.do(chromedp.SetValue(chromedp.CSS("#yaml"), "apiVersion: samplecontroller.k8s.io/v1alpha1\nkind: Foo\nmetadata: {name: long}\nspec: {deploymentName: long}\n#"+strings.Repeat("长", 900)))
	b.acts("apply")
	b.row("foos", "long long 1 1 True Available")
	b.sees("#long", "too long")
}

// A link leads to the same table, and one that says something else does nothing.
func TestPlaygroundLinks(t *testing.T) {
	t.Parallel()
	b := play(t, phone, "#create+a+b+1;scale+a+3")
	b.row("foos", "a b 3 3 True Available")
	link := value[string](b, `document.querySelector('#link').href`)
	if !strings.HasSuffix(link, "#create+a+b+1;scale+a+3") {
		t.Errorf("the link of this state is %s", link)
	}
	b.click("#language")
	b.do(chromedp.Reload())
	b.until(`document.documentElement.lang === 'zh-CN' && document.querySelector('#earlier').innerText === '上一课'`)
	b.shot("phone")
	b.until(theirs)
	b.acts("create b c 1")
	b.row("foos", "b c 1 1 True Available") // A value of the API, as kubectl prints it, also where its row is moved.
	b.acts("delete-background a c 1")
	b.until(`document.querySelector('#foos tbody').textContent.startsWith('bc11TrueAvailable')`)
	b.click("#language")

	// A bug and bad luck, by their names, and what shows them.
	b.follows("#bug=no-retry&luck=refuse-creates,no-such-luck")
	b.sees("#truth div:not([hidden])", "the bug no-retry.It does not try again what has failed.")
	b.sees("#on", "Refuse creates")
	b.sees("#on", "bug no-retry")
	b.row("foos", "example-foo web 2 0 False Forbidden")
	b.drawer("[data-do=no-retry]")
	b.until(`[...document.querySelectorAll('#wrong .now')].filter((e) => e.checkVisibility()).map((e) => e.textContent).join().startsWith('Now refuse creates, delete')`)
	b.follows("#bug=edge-triggered")
	b.row("foos", "example-foo web 4 2 False WaitingForReplicas")
	b.sees("#steps", "sent nothing") // It has not compared, so it does not know that there is something to do.
	b.follows("#create+%3Cimg%20src=x%3E;drop+tables")
	b.row("foos", "example-foo web 2 2 True Available")
	b.visit(site(t), "lesson-4.html")
	b.arrives(`location.hash === '#lesson=4' && document.querySelector('#nth')?.textContent === 'Lesson 4 of 10'`)
}

// Where the program cannot run the recording plays.
func TestPlaygroundWithoutProgram(t *testing.T) {
	t.Parallel()
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
	b.until(`/step \d/.test(document.querySelector('#when').textContent)`)
	b.until(`document.querySelector('#visit').disabled`)
	b.forgive("ERR_FILE_NOT_FOUND")
}

// TestPlaygroundNumbers prints how soon the program lives, what 50 Foos cost the page, and how
// much memory that takes: go test -tags page -v -run TestPlaygroundNumbers.
func TestPlaygroundNumbers(t *testing.T) {
	b := play(t, laptop, "")
	b.row("foos", "example-foo web 2 2 True Available")
	live := value[float64](b, `performance.getEntriesByName('live')[0].startTime / 1000`)
	b.do(chromedp.Evaluate[chromedp.Void](`
		window.long = [0];
		new PerformanceObserver((list) => list.getEntries().forEach((entry) => long.push(entry.duration))).observe({type: 'longtask'});
		for (let n = 0; n < 50; n++) {
			setTimeout(() => { document.querySelector('#foo').value = document.querySelector('#deployment').value = 'foo-' + n; document.querySelector('[data-do=create]').click(); }, n * 20);
		}`))
	b.until(`[...document.querySelectorAll('#foos tbody tr:not(.note)')].filter((row) => row.cells[5].textContent === 'Available').length === 51`)
	longest := value[float64](b, `Math.max(...long)`)
	memory := b.rendererMemory()
	t.Logf("after the page was opened the program was live in %.1f s; with 50 Foos the longest task of the main thread takes %.0f ms (0: none over 50), and the renderer %d MB", live, longest, memory>>20)
	// A third of it is what unpacking has left, and is gone after a collection.
	if memory>>20 > 500 {
		t.Errorf("the renderer takes %d MB, want at most 500", memory>>20)
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

// terms of the field, and names, are the same in Chinese.
const terms = `/\b(Foo|Deployment|Lease|Pod|Reflector|controller-\d+|controller|Kubernetes|kubectl( apply)?|API server|server|client-go|client|GET|POST|PUT|PATCH|DELETE|LIST|WATCH|YAML|UID|ID|etcd|FIFO|BOOKMARK|REST|goroutine|[wW]atch|[lL]ist|[sS]tore|[hH]andler|[wW]orker|[rR]econcile|relist|resync|key|status|spec(\.\w+)?|metadata\.name|resourceVersion|webhook|bug|Bug|informer|finalizer|kind|version|make (site|judge)|byhand|In English|Ready|True|False|Unknown|Available|MinimumReplicasAvailable|NameTaken|Forbidden|WaitingForReplicas|AlreadyExists|Conflict|Gone|OK|Created|Not Found|quota|hold|busy|lose|slow|default|example-foo|web|cafe|bar|nginx|theirs|MB|apps|recording\.json|s|ms|Event|CRD|[\w.]*[a-z][A-Z]\w*|[\d.]+m?s|deployments?\.apps.*|foo\.samplecontroller\.k8s\.io.*|Project|ADDED|MODIFIED|DELETED|deployment-deleted|API|URL|\d{3} [A-Z].*|health|ERROR too old .*|unexpected EOF|Operation cannot be fulfilled.*|[\w-]+\/[\w./-]+|(deaf|no|deletes|exits|edge)-[\w-]+|none)s?\b/g`
