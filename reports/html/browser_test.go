package html_test

import (
	"context"
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

	"firedrill/reports"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a headless Chromium that counts what a page asks for and says.
type browser struct {
	ctx context.Context

	mu       sync.Mutex
	requests []string
	said     []string
}

// newBrowser starts Chromium. It skips where there is none, unless FIREDRILL_REQUIRE names chromium.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if strings.Contains(os.Getenv("FIREDRILL_REQUIRE"), "chromium") {
			t.Fatal("FIREDRILL_REQUIRE names chromium, and there is no chromium, chromium-browser or google-chrome in PATH")
		}
		t.Skip("no chromium, chromium-browser or google-chrome in PATH")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.WindowSize(1180, 900))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...) // ends in Cleanup, after t.Context
	t.Cleanup(stop)
	b := &browser{}
	ctx, cancel := chromedp.NewContext(allocator, chromedp.WithListener(b.hear))
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("close the browser: %v", err)
		}
		cancel()
	})
	b.ctx = ctx
	// The first call takes no deadline: its context is the browser's own life.
	if err := chromedp.Do(ctx, call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}), call(runtime.Enable, cdp.Empty{})); err != nil {
		t.Fatal(err)
	}
	return b
}

// call is a command of the browser's protocol as a step.
func call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventConsoleAPICalled:
		b.said = append(b.said, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.said = append(b.said, e.Entry.Text)
	}
}

// answer is how long a page may take over one step.
const answer = 3 * time.Minute

func (b *browser) run(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, answer)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// get runs an action that has a value.
func get[T any](t *testing.T, b *browser, a chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, answer)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// open shows a page from a file.
func (b *browser) open(t *testing.T, page reports.Page) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, render(t, page), 0o600); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.requests, b.said = nil, nil
	b.mu.Unlock()
	b.run(t, chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()), chromedp.WaitReady(chromedp.CSS("footer")))
}

// silent fails when the page asked for anything but itself or said a word.
func (b *browser) silent(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, "file://") && r != "data:," {
			t.Errorf("the page asked for %s", r)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(b.requests), func(r string) bool { return r == "data:," })); n != 1 {
		t.Errorf("%d requests, want the page alone: %v", n, b.requests)
	}
	if len(b.said) > 0 {
		t.Errorf("the page wrote to the console: %q", b.said)
	}
}

// eval runs a script in the page.
func eval[T any](t *testing.T, b *browser, script string) T {
	t.Helper()
	return get(t, b, chromedp.Evaluate[T](script))
}

func TestThePageIsSilent(t *testing.T) {
	b := newBrowser(t)
	b.open(t, demonstration(t))
	b.run(t, chromedp.Click(chromedp.CSS("#x1 details.data summary")), chromedp.Focus(chromedp.CSS("#x1-latency")), chromedp.KeyEvent("a"))
	b.silent(t)
	if n := eval[int](t, b, `document.querySelectorAll('figure.chart').length`); n != 7 {
		t.Errorf("%d charts, want 4 and 3", n)
	}
}
