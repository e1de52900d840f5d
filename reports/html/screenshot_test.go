package html_test

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"firedrill/reports"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestThePageIsDrawnInEveryStyle takes pictures in light, dark, narrow and print, and a PDF.
// FIREDRILL_SCREENSHOTS names a folder to keep them in.
func TestThePageIsDrawnInEveryStyle(t *testing.T) {
	b := newBrowser(t)
	keep := os.Getenv("FIREDRILL_SCREENSHOTS")
	for _, style := range []struct {
		name, scheme, media string
		width               int64
		page                reports.Page
	}{
		{"light", "light", "screen", 1180, reports.Page{Reports: []reports.Report{build(t, hung())}}},
		{"dark", "dark", "screen", 1180, demonstration(t)},
		{"narrow", "light", "screen", 600, demonstration(t)},
		{"print", "dark", "print", 900, demonstration(t)},
	} {
		b.open(t, style.page)
		b.run(t,
			call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: style.width, Height: 1000, DeviceScaleFactor: 1}),
			call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: style.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: style.scheme}}}),
		)
		picture := get(t, b, chromedp.FullScreenshot(100))
		img, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		r, g, bl, _ := img.At(2, 2).RGBA()
		if dark := r+g+bl < 3*0x8000; dark != (style.name == "dark") {
			t.Errorf("%s: the ground is dark: %v", style.name, dark)
		}
		if wide := eval[int64](t, b, `document.documentElement.scrollWidth`); wide > style.width {
			t.Errorf("%s: the page is %d px wide in a window of %d", style.name, wide, style.width)
		}
		if keep != "" {
			if err := os.WriteFile(filepath.Join(keep, style.name+".png"), picture, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	pdf := get(t, b, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) || bytes.Contains(pdf, []byte("/Subtype /Image")) {
		t.Errorf("the PDF of %d bytes holds a bitmap or is none", len(pdf))
	}
	if keep != "" {
		if err := os.WriteFile(filepath.Join(keep, "print.pdf"), pdf, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.silent(t)
}
