package experiments

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"firedrill/experiments/document"
	"firedrill/experiments/verdict"
	"firedrill/targets"
)

// Options are what a command line may say about a compilation.
type Options struct {
	Seed   *uint64 // in place of the file's
	Target string  // in place of the file's
	Trials int     // in place of the file's, if not 0
}

// Bounds of a plan: every loop of a run ends.
const (
	MaxRequests = 2_000_000 // planned in one run
	MaxRate     = 50_000    // requests a second
	MaxTries    = 10_000    // for one user request, over all layers
	MaxTrials   = 100       // of one experiment
	maxReplicas = 100
	maxLinks    = 4096
	maxClients  = 10_000
	maxItems    = 100 // faults, routes, rows of a kind
)

// compiler turns an Experiment into a Plan and collects everything wrong with it.
type compiler struct {
	e        *Experiment
	plan     *Plan
	can      targets.Capability
	problems Problems
	// incomplete is set when nodes or links are missing because they were
	// written wrongly: names that are not found then tell nothing.
	incomplete bool
	before     Problems // what decoding found
}

// Compile writes every default out, resolves every name, derives every seed.
// Whatever cannot be run as written comes at once, as Problems.
func Compile(e *Experiment, o Options) (*Plan, error) {
	return compile(e, o, nil)
}

func compile(e *Experiment, o Options, before Problems) (*Plan, error) {
	c := &compiler{e: e, plan: &Plan{Version: PlanVersion}, before: before}
	c.incomplete = c.doubtful("topology")
	c.header(o)
	c.topology()
	c.incomplete = c.incomplete || c.told("topology")
	c.load()
	c.phases()
	c.faults()
	c.rows()
	c.limits()
	c.expected()
	c.windows()
	c.evidence()
	c.premises()
	c.warnings()
	if err := c.problems.Err(); err != nil {
		return nil, err
	}
	hash, err := c.plan.Sum()
	if err != nil {
		return nil, err
	}
	c.plan.Hash = hash
	return c.plan, nil
}

// shape is what compiling finds wrong with a file that did not decode well,
// without what only follows from that.
func (e *Experiment) shape(told Problems) Problems {
	if len(told) == 0 {
		return nil
	}
	_, err := compile(e, Options{}, told)
	var found Problems
	if !errors.As(err, &found) {
		return nil
	}
	return slices.DeleteFunc(found, func(p Problem) bool {
		return slices.ContainsFunc(told, func(t Problem) bool {
			return p.Path == "" || related(p.Path, t.Path) || t.Near != "" && related(p.Path, t.Near)
		})
	})
}

// related says whether one path is the other or within it.
func related(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// doubtful says whether a part of the file is wrong, misspelt or not decoded,
// so that what does not fit it tells nothing.
func (c *compiler) doubtful(path string) bool {
	return c.told(path) || slices.ContainsFunc(c.before, func(p Problem) bool {
		return p.Path == "" || related(p.Path, path) || p.Near != "" && related(p.Near, path)
	})
}

// report adds a problem at a path of the file.
func (c *compiler) report(path, message, hint string) {
	c.problems = append(c.problems, c.e.PositionOf(path).Problem(path, message, hint))
}

// given notes a default if the file leaves a path out.
func (c *compiler) given(path string, value any) {
	if !c.e.Has(path) {
		c.plan.Defaults = append(c.plan.Defaults, Default{Path: path, Value: fmt.Sprint(value)})
	}
}

// warn adds what runs but may surprise, at a path of the file.
func (c *compiler) warn(path, message, hint string) {
	text := path + ": " + message
	if hint != "" {
		text += ": " + hint
	}
	c.plan.Warnings = append(c.plan.Warnings, text)
	c.plan.Placed = append(c.plan.Placed, c.e.PositionOf(path).Problem(path, "warning: "+message, hint))
}

// notZero reports a count that was written as zero, which no default may hide.
func (c *compiler) notZero(path string) {
	if n := c.e.root.Find(path); n != nil && n.Kind == document.Scalar {
		if v, err := strconv.ParseFloat(strings.TrimRight(n.Text, "nuµmsh/%"), 64); err == nil && v == 0 {
			c.report(path, fmt.Sprintf("`%s` is 0", path[strings.LastIndexByte(path, '.')+1:]), "give a value above 0, or leave it out for its default")
		}
	}
}

const longestName = 200

func (c *compiler) header(o Options) {
	e, p := c.e, c.plan
	p.Name, p.Why, p.Meets, p.Labels = e.Name, e.Why, e.Meets, e.Labels
	switch {
	case strings.TrimSpace(e.Name) == "":
		c.report("name", "the experiment has no `name`", "write for example `name: hung-backend-leaves-rotation`")
	case len(e.Name) > longestName:
		c.report("name", fmt.Sprintf("the name has %d bytes, the most is %d", len(e.Name), longestName), "tell the story in `why`")
	case strings.ContainsFunc(e.Name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
	}):
		c.report("name", "a line break, control character or invisible character in the name", "write it on one line, of letters, digits and signs")
	case strings.ContainsAny(e.Name, `/\`) || strings.HasPrefix(e.Name, "."):
		c.report("name", "the name reads like a path", "use lower-case letters, digits and hyphens, for example `hung-backend-leaves-rotation`")
	}
	for i, l := range e.Labels {
		if strings.TrimSpace(l) == "" || strings.ContainsFunc(l, unicode.IsSpace) || strings.ContainsAny(l, "()!&|,") {
			c.report(document.Index("labels", i), fmt.Sprintf("the label %q cannot be used in a label filter", l), "use one word of letters, digits and hyphens")
		}
	}
	p.Seed = e.Seed
	if o.Seed != nil {
		p.Seed = *o.Seed
	} else {
		c.given("seed", e.Seed)
	}
	p.Trials = max(1, e.Trials)
	if o.Trials != 0 {
		p.Trials = o.Trials
	} else {
		c.given("trials", 1)
	}
	c.notZero("trials")
	if p.Trials < 1 || p.Trials > MaxTrials || e.Trials < 0 {
		asked := p.Trials
		if o.Trials == 0 && e.Trials < 0 {
			asked = e.Trials
		}
		c.report("trials", fmt.Sprintf("%d trials: there may be 1 to %d", asked, MaxTrials), "")
	}
	c.target(o)
}

func (c *compiler) target(o Options) {
	name := c.e.Target
	if o.Target != "" {
		name = o.Target
	}
	if name == "" {
		name = targets.Embedded
		c.given("target", name)
	}
	c.plan.Target = name
	can, ok := targets.Capabilities[name]
	if !ok {
		c.report("target", unknownWord("target", name, targets.Names(), laterTargets), "")
		can = targets.Capabilities[targets.Embedded]
	}
	c.can = can
}

// expected checks `expected` and `because` against the rows.
func (c *compiler) expected() {
	e, p := c.e, c.plan
	p.Because = e.Because
	switch e.Expected {
	case "", string(verdict.Pass):
		p.Expected = verdict.Pass
		c.given("expected", verdict.Pass)
		if len(e.Because) > 0 {
			c.report("because", "`because` without `expected: fail`", "write `expected: fail`, or leave it out")
		}
	case string(verdict.Fail):
		p.Expected = verdict.Fail
		if len(e.Because) == 0 {
			c.report("expected", "`expected: fail` does not say which row fails", "write for example `because: expect.0`")
		}
	default:
		c.report("expected", unknownWord("expected", e.Expected, []string{"pass", "fail"}, nil), "")
	}
	for i, path := range e.Because {
		if !slices.ContainsFunc(slices.Concat(p.Expect, p.SteadyState), rowWithID(path)) {
			c.report("because", fmt.Sprintf("`because` names `%s`, which is no row", path), rowNames(len(p.Expect)))
		}
		if slices.Index(e.Because, path) < i {
			c.report("because", fmt.Sprintf("`because` names `%s` twice", path), "")
		}
	}
}

// rowNames are the expectations that there are.
func rowNames(n int) string {
	switch n {
	case 0:
		return "there are none"
	case 1:
		return "there is expect.0"
	}
	return fmt.Sprintf("there are expect.0 to expect.%d", n-1)
}
