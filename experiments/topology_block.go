package experiments

import (
	"fmt"
	"reflect"
	"strings"

	"firedrill/experiments/document"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
)

// Kinds of nodes in this version.
const (
	KindBalancer = "balancer"
	KindService  = "service"
)

// Nodes is the `topology` block in file order.
type Nodes []NodeBlock

// NodeBlock is one entry of the topology: a name and the block of its kind.
type NodeBlock struct {
	Name     string
	Balancer *BalancerBlock
	Service  *ServiceBlock
}

// BalancerBlock is a node of kind balancer.
type BalancerBlock struct {
	Kind           string         `yaml:"kind" jsonschema:"required,enum=balancer"`
	Layer          int            `yaml:"layer" jsonschema:"enum=7" jsonschema_description:"7: requests"`
	To             string         `yaml:"to" jsonschema:"required" jsonschema_description:"the node whose replicas are its pool"`
	Timeout        units.Duration `yaml:"timeout" jsonschema_description:"of a whole request, retries included; 1s if left out"`
	Timeouts       TimeoutsBlock  `yaml:"timeouts"`
	balance.Config `yaml:",inline"`
}

// TimeoutsBlock is the long spelling of a balancer's timeout.
type TimeoutsBlock struct {
	Request units.Duration `yaml:"request" jsonschema_description:"of a whole request, retries included"`
}

// ServiceBlock is a node of kind service.
type ServiceBlock struct {
	Kind     string     `yaml:"kind" jsonschema:"required,enum=service"`
	Replicas int        `yaml:"replicas" jsonschema:"minimum=1"`
	Zone     string     `yaml:"zone"`
	Work     units.Dist `yaml:"work" jsonschema_description:"how long one request keeps a worker busy"`
	Workers  int        `yaml:"workers" jsonschema:"minimum=1"`
	Queue    int        `yaml:"queue" jsonschema:"minimum=0"`
	Calls    Calls      `yaml:"calls"`
}

// Calls is the `calls` block in file order.
type Calls []CallBlock

// CallBlock is one call that a service makes for a request.
type CallBlock struct {
	To             string `yaml:"-"`
	On             string `yaml:"on" jsonschema_description:"prefix of the paths whose requests make this call"`
	Algorithm      string `yaml:"algorithm"`
	balance.Policy `yaml:",inline"`
}

// UnmarshalNode implements document.Unmarshaler.
func (nodes *Nodes) UnmarshalNode(d *document.Decoder, n *document.Node, path string) {
	if !d.Want(n, document.Map, path, "{cart: {kind: service}}") {
		return
	}
	for _, e := range n.Entries {
		block := NodeBlock{Name: e.Key}
		block.decode(d, e.Value, document.Join(path, e.Key))
		*nodes = append(*nodes, block)
	}
}

func (b *NodeBlock) decode(d *document.Decoder, n *document.Node, path string) {
	if !d.Want(n, document.Map, path, "{kind: service}") {
		return
	}
	kind := n.Get("kind")
	if kind == nil {
		for _, e := range n.Entries {
			if at := document.Join(path, e.Key); document.Nearest(e.Key, []string{"kind"}) != "" {
				d.Unknown(e, at, []string{"kind"}, nil)
				return
			}
		}
		d.Report(n, path, fmt.Sprintf("`%s` has no `kind`", b.Name), "write `kind: balancer` or `kind: service`")
		return
	}
	switch kind.Text {
	case KindBalancer:
		b.Balancer = new(BalancerBlock)
		d.Decode(n, b.Balancer, path)
	case KindService:
		b.Service = new(ServiceBlock)
		d.Decode(n, b.Service, path)
	default:
		d.Report(kind, document.Join(path, "kind"), unknownWord("kind", kind.Text, []string{KindBalancer, KindService}, laterKinds), "")
	}
}

// UnmarshalNode implements document.Unmarshaler.
func (calls *Calls) UnmarshalNode(d *document.Decoder, n *document.Node, path string) {
	if !d.Want(n, document.Map, path, "{database: {attempts: 2}}") {
		return
	}
	for _, e := range n.Entries {
		call := CallBlock{To: e.Key}
		d.Decode(e.Value, &call, document.Join(path, e.Key))
		call.To = e.Key
		*calls = append(*calls, call)
	}
}

// unknownWord is the message for a word that is not among those of this version.
func unknownWord(key, word string, known, later []string) string {
	for _, l := range later {
		if l == word {
			return fmt.Sprintf("the %s `%s` is in the format but not in this version: choose one of %s", key, word, strings.Join(known, ", "))
		}
	}
	if near := document.DidYouMean(word, known); near != "" {
		return fmt.Sprintf("unknown %s `%s`%s", key, word, near)
	}
	return fmt.Sprintf("unknown %s `%s`: choose one of %s", key, word, strings.Join(known, ", "))
}

// isLater says whether the format has a key that this version does not run.
func isLater(block reflect.Type, key string) bool {
	for _, k := range laterKeys[block] {
		if k == key {
			return true
		}
	}
	return false
}
