package ci_test

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"firedrill/ci/match"
	"firedrill/ci/quiet"
	"firedrill/experiments/drill"
	"firedrill/experiments/library"
)

func TestMain(m *testing.M) { drill.Main(m) }

// specLimit bounds one shipped experiment with its bring-up and judgement.
const specLimit = 2 * time.Minute

// tries is how often an experiment is measured while the machine is too busy to say anything.
const tries = 3

// TestLibrary measures the shipped experiments: those labelled fast, unless
// -ginkgo.label-filter says otherwise.
func TestLibrary(t *testing.T) {
	quiet.Timed(t)
	suite, reporter := ginkgo.GinkgoConfiguration()
	if suite.LabelFilter == "" {
		suite.LabelFilter = "fast"
	}
	suite.FailOnEmpty = true
	if file := os.Getenv("FIREDRILL_JUNIT"); file != "" {
		reporter.JUnitReport = file
	}
	gomega.RegisterFailHandler(ginkgo.Fail)
	describeLibrary(t)
	ginkgo.RunSpecs(t, "shipped experiments", suite, reporter)
}

// describeLibrary makes one spec for each file of the library.
func describeLibrary(t *testing.T) {
	state := t.TempDir()
	n := 0
	err := fs.WalkDir(library.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		n++
		loaded, err := drill.LoadFS(library.FS(), name, drill.Choices{})
		if err != nil {
			return err
		}
		ginkgo.It(loaded.Plan.Name, ginkgo.Label(loaded.Plan.Labels...), func(ctx context.Context) {
			v, err := loaded.Run(ctx, drill.Conditions{StateDir: state})
			gomega.Expect(err).NotTo(gomega.HaveOccurred())
			for again := 1; again < tries && strings.Contains(v.Reason, "could not keep up"); again++ {
				ginkgo.AddReportEntry("measured again", v.Reason) // a held-up machine showed nothing, neither good nor bad
				v, err = loaded.Run(ctx, drill.Conditions{StateDir: state})
				gomega.Expect(err).NotTo(gomega.HaveOccurred())
			}
			for _, r := range slices.Concat(v.SteadyState, v.Expectations) {
				ginkgo.AddReportEntry(r.ID, match.Line(r), ginkgo.ReportEntryVisibilityFailureOrVerbose)
			}
			gomega.Expect(v).To(match.Pass())
		}, ginkgo.SpecTimeout(specLimit))
		return nil
	})
	if err != nil {
		t.Fatalf("read the library: %v", err)
	}
	if n == 0 {
		t.Fatal("the library is empty")
	}
}
