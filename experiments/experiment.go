package experiments

import (
	"firedrill/experiments/document"
	"firedrill/faults/units"
)

// Problem is one thing that is wrong with a file, with its place.
type Problem = document.Problem

// Problems is everything that is wrong with a file; it is an error.
type Problems = document.Problems

// Setting is one change of a file by path: `--set path=value`.
type Setting = document.Setting

// Experiment is a decoded file: what was written, nothing filled in. PositionOf
// gives the place of every value.
type Experiment struct {
	Name     string       `yaml:"name" jsonschema:"required" jsonschema_description:"lower-case letters, digits and hyphens"`
	Why      string       `yaml:"why" jsonschema_description:"one sentence: what should hold, and for whom"`
	Meets    []string     `yaml:"meets" jsonschema_description:"ids of the acceptance list"`
	Labels   []string     `yaml:"labels" jsonschema_description:"words that select files: fast, long, statistics, …"`
	Seed     uint64       `yaml:"seed" jsonschema_description:"of every draw; the same file and seed give the same plan"`
	Target   string       `yaml:"target" jsonschema:"enum=embedded" jsonschema_description:"where the topology runs, embedded if left out"`
	Trials   int          `yaml:"trials" jsonschema:"minimum=1" jsonschema_description:"repetitions with a random phase"`
	Extends  string       `yaml:"extends" jsonschema_description:"a file of which this one is a twin"`
	Set      Settings     `yaml:"set" jsonschema_description:"what the twin changes: dotted path to value, null deletes"`
	Topology Nodes        `yaml:"topology"`
	Load     LoadBlock    `yaml:"load"`
	Phases   PhasesBlock  `yaml:"phases"`
	Steady   []SteadyRow  `yaml:"steady_state" jsonschema_description:"the gate before the fault, checked again over the last third of recovery"`
	Faults   []FaultEntry `yaml:"faults"`
	Observe  bool         `yaml:"observe" jsonschema_description:"true lets a run without faults only watch"`
	Expect   []ExpectRow  `yaml:"expect"`
	Abort    []AbortRow   `yaml:"abort_when"`
	Limits   LimitsBlock  `yaml:"limits"`
	Expected string       `yaml:"expected" jsonschema:"enum=pass,enum=fail" jsonschema_description:"fail: the file shows what goes wrong without a remedy"`
	Because  PathList     `yaml:"because" jsonschema_description:"the rows that fail then: expect.0"`

	root *document.Node
	file string
}

// LoadBlock is the `load` block.
type LoadBlock struct {
	To          string         `yaml:"to" jsonschema:"required" jsonschema_description:"the node that the load goes to"`
	Rate        units.Rate     `yaml:"rate"`
	Requests    int            `yaml:"requests" jsonschema:"minimum=1" jsonschema_description:"so many in baseline and fault, instead of a rate"`
	Arrivals    string         `yaml:"arrivals" jsonschema:"enum=poisson,enum=constant"`
	Clients     int            `yaml:"clients" jsonschema:"minimum=1" jsonschema_description:"identities, each with its own connections"`
	Connections string         `yaml:"connections" jsonschema:"enum=keep_alive,enum=per_request"`
	Timeout     units.Duration `yaml:"timeout" jsonschema_description:"after which a user gives up, 1s if left out"`
	Attempts    int            `yaml:"attempts" jsonschema:"minimum=1" jsonschema_description:"tries of the client itself, 1 if left out"`
	MaxInFlight int            `yaml:"max_in_flight" jsonschema:"minimum=1" jsonschema_description:"requests open at once, 5000 if left out"`
	Routes      []RouteBlock   `yaml:"routes"`
}

// RouteBlock is one kind of request.
type RouteBlock struct {
	Method  string            `yaml:"method"`
	Path    string            `yaml:"path"`
	Host    string            `yaml:"host"`
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"`
	Weight  float64           `yaml:"weight" jsonschema:"minimum=0"`
}

// PhasesBlock is the `phases` block.
type PhasesBlock struct {
	Warmup   units.Duration `yaml:"warmup"`
	Baseline units.Duration `yaml:"baseline" jsonschema:"required"`
	Fault    units.Duration `yaml:"fault" jsonschema:"required"`
	Recovery units.Duration `yaml:"recovery"`
}

// LimitsBlock bounds the blast radius; what is left out has a default.
type LimitsBlock struct {
	FaultsAtOnce int            `yaml:"faults_at_once" jsonschema:"minimum=1"`
	ShareOfNodes units.Percent  `yaml:"share_of_nodes" jsonschema_description:"of the nodes, most that faults may touch"`
	Duration     units.Duration `yaml:"duration" jsonschema_description:"of the whole run"`
	Fault        units.Duration `yaml:"fault" jsonschema_description:"the longest that a fault may stay, 10m if left out"`
}

// PathList is one path or a list of them.
type PathList []string

// UnmarshalNode implements document.Unmarshaler.
func (l *PathList) UnmarshalNode(d *document.Decoder, n *document.Node, path string) {
	if n.Kind == document.Scalar {
		*l = PathList{n.Text}
		return
	}
	d.Decode(n, (*[]string)(l), path)
}

// Settings is the `set` block; it is applied before anything is decoded.
type Settings map[string]any

// File is the name that the experiment was decoded under.
func (e *Experiment) File() string { return e.file }

// PositionOf is the place of a value in the file, by its dotted path.
func (e *Experiment) PositionOf(path string) document.Position { return e.root.PositionOf(path) }

// lineOf is the line of a value in the experiment's own file, 0 for what a
// twin takes from the file it extends or a command line sets.
func (e *Experiment) lineOf(path string) int {
	pos := e.PositionOf(path)
	if pos.Source == nil || pos.Source.Name != e.file {
		return 0
	}
	return pos.Line
}

// Has says whether the file gives a value, rather than leaving it to a default.
func (e *Experiment) Has(path string) bool { return e.root.Find(path) != nil }
