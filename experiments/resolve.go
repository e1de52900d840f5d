package experiments

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"firedrill/experiments/document"
	"firedrill/targets"
)

// resolve turns a selector into the replicas or links that it names, in the
// order of the topology. What it draws depends on the seed and on its own text
// alone: the same selector means the same victims wherever it stands.
func (c *compiler) resolve(s Selector, path string, links, all bool) []string {
	before := len(c.problems)
	found := map[string]bool{}
	c.collect(s, path, links, all, found)
	var out []string
	for _, name := range c.everything(links) {
		if found[name] {
			out = append(out, name)
		}
	}
	if len(out) == 0 && len(c.problems) == before && !c.incomplete {
		c.report(path, fmt.Sprintf("`%s` selects nothing", s.Text()), "name something of the topology")
	}
	return out
}

// everything is all replicas, or all links.
func (c *compiler) everything(links bool) []string {
	var out []string
	if links {
		for _, l := range c.plan.Topology.Links {
			out = append(out, l.Name())
		}
		return out
	}
	for _, n := range c.plan.Topology.Nodes {
		out = append(out, n.Name)
	}
	return out
}

func (c *compiler) collect(s Selector, path string, links, all bool, found map[string]bool) {
	for i, one := range s.List {
		c.collect(one, document.Index(path, i), links, all, found)
	}
	if len(s.List) > 0 || s.IsZero() {
		return
	}
	for _, name := range c.drawn(s, path, c.candidates(s, path, links, all)) {
		found[name] = true
	}
}

// candidates are what the selector draws from, or all that it names.
func (c *compiler) candidates(s Selector, path string, links, all bool) []string {
	name := cmp.Or(s.Name, s.Of)
	whole := name == "" && s.Count == 0 && (s.Share == nil || *s.Share >= 1) && s.Zone == ""
	if name == Everything || whole {
		if !all && !s.All {
			c.report(path, fmt.Sprintf("`%s` is everything at once", s.Text()), "write `all: true` beside it if that is meant")
			return nil
		}
		return c.everything(links)
	}
	names := c.everything(links)
	if name != "" {
		names = c.named(name, path, links)
	}
	if s.Zone == "" {
		return names
	}
	zones := c.zones()
	if !slices.Contains(zones, s.Zone) {
		hint := "no node has a zone: write `zone: " + s.Zone + "` on some"
		if len(zones) > 0 {
			hint = "there are " + strings.Join(zones, ", ")
		}
		c.report(path, fmt.Sprintf("no node is in zone `%s`%s", s.Zone, document.DidYouMean(s.Zone, zones)), hint)
		return nil
	}
	return slices.DeleteFunc(names, func(n string) bool {
		if l, ok := targets.ParseLink(n); ok {
			n = l.To
		}
		node := c.plan.Topology.Node(n)
		return node == nil || node.Zone != s.Zone
	})
}

func (c *compiler) zones() []string {
	var out []string
	for _, n := range c.plan.Topology.Nodes {
		if n.Zone != "" && !slices.Contains(out, n.Zone) {
			out = append(out, n.Zone)
		}
	}
	return out
}

// named are the replicas or links of a name; a name of the wrong sort and one
// that does not exist are reported.
func (c *compiler) named(name, path string, links bool) []string {
	t := &c.plan.Topology
	isLink := strings.Contains(name, "->")
	switch {
	case c.incomplete && c.written(name) && len(t.Replicas(name)) == 0 && len(t.Covered(name)) == 0:
		return nil
	case len(t.Nodes) == 0:
		return nil // that there is no topology was said
	case links && !isLink:
		if len(t.Replicas(name)) == 0 {
			c.report(path, fmt.Sprintf("`%s` is not in the topology, and a link is wanted here", name), "name a link: "+c.linkNames())
			return nil
		}
		hint := "name a link: " + c.linkNames()
		if link := c.linkTo(name); link != "" {
			hint = fmt.Sprintf("write for example `%s`", link)
		}
		c.report(path, fmt.Sprintf("`%s` is a node, and a link is wanted here", name), hint)
		return nil
	case !links && isLink:
		hint := "there are " + shortList(c.everything(false))
		if _, to, _ := strings.Cut(name, "->"); len(t.Replicas(to)) > 0 {
			hint = fmt.Sprintf("write for example `%s`", to)
		}
		c.report(path, fmt.Sprintf("`%s` is a link, and a node is wanted here", name), hint)
		return nil
	case links:
		out := t.Covered(name)
		if len(out) == 0 && !c.unknownEnd(name, path) {
			c.report(path, fmt.Sprintf("there is no link `%s`", name), "there are "+c.linkNames())
		}
		return out
	}
	out := t.Replicas(name)
	if len(out) == 0 {
		known := append(c.names(), c.everything(false)...)
		c.report(path, fmt.Sprintf("`%s` is not in the topology%s", name, document.DidYouMean(name, known)), "there are "+shortList(c.everything(false)))
	}
	return out
}

// unknownEnd reports the ends of a link that are no nodes.
func (c *compiler) unknownEnd(link, path string) bool {
	known := append(append(c.names(), targets.Load), c.everything(false)...)
	found := false
	for _, end := range strings.SplitN(link, "->", 2) {
		if slices.Contains(known, end) {
			continue
		}
		found = true
		c.report(path, fmt.Sprintf("`%s` is not in the topology%s", end, document.DidYouMean(end, known)), "there are the links "+c.linkNames())
	}
	return found
}

// written says whether the file has the node of a name, or the nodes of a
// link, even if they were written wrongly.
func (c *compiler) written(name string) bool {
	for _, part := range strings.Split(name, "->") {
		part = replicaName.ReplaceAllString(part, "")
		if part != targets.Load && !slices.Contains(c.names(), part) {
			return false
		}
	}
	return true
}

// linkTo is the shortest link that ends at a node; empty if there is none.
func (c *compiler) linkTo(name string) string {
	for _, l := range c.plan.Topology.Links {
		to := c.plan.Topology.Node(l.To)
		if l.To == name || to != nil && to.Of == name {
			from := l.From
			if n := c.plan.Topology.Node(l.From); n != nil {
				from = n.Of
			}
			return from + "->" + name
		}
	}
	return ""
}

// linkNames are the links by the names of their nodes.
func (c *compiler) linkNames() string {
	var out []string
	for _, l := range c.plan.Topology.Links {
		from, to := l.From, l.To
		if n := c.plan.Topology.Node(from); n != nil {
			from = n.Of
		}
		if n := c.plan.Topology.Node(to); n != nil {
			to = n.Of
		}
		if name := from + "->" + to; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return shortList(out)
}

// drawn takes as many of the candidates as the selector says. Each candidate
// has a rank drawn from the seed, the selector's text and its own name; the
// lowest ranks are taken, so nothing is drawn twice and a replica more changes
// little.
func (c *compiler) drawn(s Selector, path string, from []string) []string {
	n := len(from)
	switch {
	case n == 0:
		return nil
	case s.Count > n:
		c.report(path, fmt.Sprintf("`%s` asks for %d, there are %d", s.Text(), s.Count, n), "ask for fewer")
		return nil
	case s.Count > 0:
		n = s.Count
	case s.Share != nil:
		n = int(math.Floor(float64(s.Share.Share()*float64(len(from))) + 0.5 + 1e-9))
		if n == 0 {
			c.report(path, fmt.Sprintf("%s of %d rounds to none", s.Share, len(from)), "raise the share, or write `count: 1`")
			return nil
		}
	}
	rank := func(name string) uint64 { return Derive(c.plan.Seed, "select "+s.Text()+" "+name) }
	ranked := slices.Clone(from)
	slices.SortFunc(ranked, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return ranked[:n]
}
