//go:build page

package browser

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	byhandpage "example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
)

var (
	shots    = flag.String("screenshots", "screenshots", "`folder` for the screenshots; it is ignored by git")
	chromium = flag.String("chromium", "chromium", "the `browser`")
	// The machine may be shared.
	patience = flag.Duration("deadline", 5*time.Minute, "how long to wait for what must happen")
)

// tab is a tab of its browser, and the problems that it reported.
type tab struct {
	*testing.T
	ctx context.Context
	// byKeys: acts presses keys.
	byKeys bool

	mu       sync.Mutex
	problems []string
	forgiven []string
	requests []string
}

// look is the setup of the browser.
type look struct {
	width, height int64
	phone, dark   bool
	still         bool
}

var laptop = look{width: 1440, height: 1000}

// open starts a browser, opens the page in it, and closes it with the test. A message on the console,
// an exception, or a request that leaves this machine fails the test.
func open(t *testing.T, address string, l look) *tab {
	t.Helper()
	executable, err := exec.LookPath(*chromium)
	if err != nil {
		t.Fatalf("no browser: install Chromium (on Debian, apt-get install chromium), or name yours with -chromium FILE: %v", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(executable),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-gpu", true),
	)
	if os.Geteuid() == 0 {
		// Chromium's sandbox does not start as root, as in containers.
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10**patience)
	t.Cleanup(cancel)
	allocator, end := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(end)
	tabContext, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		// Waits for the process, which could still write to the deleted folder.
		_ = chromedp.Cancel(tabContext)
		closeTab()
	})
	b := &tab{T: t, ctx: tabContext}
	// Starts the browser. A context with a timeout would close it again.
	if err := chromedp.Listen(tabContext, b.hear); err != nil {
		t.Fatal(err)
	}
	b.prepare(l)
	b.do(chromedp.Navigate(address))
	t.Cleanup(b.check)
	t.Cleanup(func() {
		if !t.Failed() {
			b.shot("end")
		}
	})
	return b
}

func (b *tab) prepare(l look) {
	b.Helper()
	command(b, network.Enable, network.EnableParams{})
	command(b, runtime.Enable, cdp.Empty{})
	command(b, log.Enable, cdp.Empty{})
	b.turns(l)
}

// turns changes the look of the tab.
func (b *tab) turns(l look) {
	b.Helper()
	features := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: map[bool]string{true: "dark", false: "light"}[l.dark]},
		{Name: "prefers-reduced-motion", Value: map[bool]string{true: "reduce", false: "no-preference"}[l.still]},
	}
	command(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: l.height, DeviceScaleFactor: 1, Mobile: l.phone})
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// command sends one command of the protocol.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.Helper()
	result, err := chromedp.Call(b.ctx, c, params)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, event.Request.URL)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, fmt.Sprintf("exception: %s %+v", event.ExceptionDetails.Text, event.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		b.problems = append(b.problems, fmt.Sprintf("%s: %s %s", event.Entry.Level, event.Entry.Text, event.Entry.URL))
	case *runtime.EventConsoleAPICalled:
		var said []string
		for _, argument := range event.Args {
			said = append(said, string(argument.Value)+argument.Description)
		}
		b.problems = append(b.problems, fmt.Sprintf("console.%s: %s", event.Type, strings.Join(said, " ")))
	case *page.EventJavascriptDialogOpening:
		b.problems = append(b.problems, "dialog: "+event.Message)
	}
}

// forgive ignores messages that a test causes on purpose, including later ones.
func (b *tab) forgive(texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgiven = append(b.forgiven, texts...)
}

// check fails the test if the page reported a problem.
func (b *tab) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		if !slices.ContainsFunc(b.forgiven, func(text string) bool { return strings.Contains(problem, text) }) {
			b.Error(problem)
		}
	}
	for _, address := range b.requests {
		if to, err := url.Parse(address); err != nil || to.Scheme != "data" && to.Scheme != "blob" && to.Scheme != "file" && to.Hostname() != "127.0.0.1" {
			b.Errorf("the page asks for %s, which is not on this machine", address)
		}
	}
	if len(b.requests) == 0 {
		b.Error("no request was seen, so none was checked")
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, *patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

func get[T any](b *tab, action chromedp.Action[T]) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, *patience)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// value returns the value of a JavaScript expression.
func value[T any](b *tab, expression string) T {
	b.Helper()
	return get(b, chromedp.Evaluate[T](expression))
}

// until waits for a JavaScript expression to be true.
func (b *tab) until(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, *patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(0)))
	if err != nil {
		b.shot("failed")
		b.Fatalf("%s: %v", expression, err)
	}
}

// sees waits for an element to hold a text.
func (b *tab) sees(selector, text string) {
	b.Helper()
	b.until(fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.textContent.includes(%q))", selector, text))
}

// click clicks on the first element of a selector until the element receives it. The page may redraw or
// move the element between the search and the click.
func (b *tab) click(selector string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, *patience)
	defer cancel()
	for missed := true; missed; missed = value[bool](b, "Boolean(window.missed)") {
		b.run(fmt.Sprintf("window.missed = true; document.querySelector(%q)?.addEventListener('click', () => { missed = false; }, {capture: true})", selector))
		if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil && !strings.Contains(err.Error(), "Could not find node") {
			b.Fatal(err)
		}
	}
}

// press gives an element the focus and presses a key.
func (b *tab) press(selector, key string) {
	b.Helper()
	b.do(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(key))
}

// run runs JavaScript.
func (b *tab) run(script string) {
	b.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](script))
}

// shot saves a screenshot of the view.
func (b *tab) shot(name string) {
	b.Helper()
	image := get(b, chromedp.CaptureScreenshot())
	file := filepath.Join(*shots, strings.ReplaceAll(b.Name(), "/", "-")+"-"+name+".png")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, image, 0o644); err != nil {
		b.Fatal(err)
	}
}

// serve shows the steps of a source until the test ends.
func serve(t *testing.T, source *trace.History, o byhandpage.Options) string {
	t.Helper()
	address, _ := serveAt(t, "http://127.0.0.1:0", source, o)
	return address
}

// serveAt is serve at an address, until stop is called.
func serveAt(t *testing.T, address string, source *trace.History, o byhandpage.Options) (at string, stop func()) {
	t.Helper()
	server, err := byhandpage.Listen(strings.Trim(strings.TrimPrefix(address, "http:"), "/"), source, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return server.URL, stop
}
