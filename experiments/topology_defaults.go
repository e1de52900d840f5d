package experiments

import (
	"strings"

	"firedrill/experiments/document"
	"firedrill/reference-lb/balance"
)

func (c *compiler) balancerDefaults(n NodeBlock) {
	path := document.Join("topology", n.Name)
	d := n.Balancer.WithDefaults()
	c.given(path+".algorithm", d.Algorithm)
	if !c.e.Has(path+".timeout") && !c.e.Has(path+".timeouts.request") {
		c.given(path+".timeout", d.Retry.Timeout)
	}
	if d.Algorithm == balance.LeastRequest {
		c.given(path+".choices", d.Choices)
	}
	if n.Balancer.Health == nil {
		c.given(path+".health", "off")
	} else {
		c.given(path+".health.path", d.Health.Path)
		c.given(path+".health.interval", d.Health.Interval)
		c.given(path+".health.timeout", d.Health.Timeout)
		c.given(path+".health.fall", d.Health.Fall)
		c.given(path+".health.rise", d.Health.Rise)
		c.given(path+".health.schedule", d.Health.Schedule)
		c.given(path+".health.connection", d.Health.Connection)
	}
	c.policyDefaults(path+".retry", *d.Retry)
}

func (c *compiler) policyDefaults(path string, p balance.Policy) {
	c.given(path+".attempts", p.Attempts)
	if p.Attempts > 1 {
		var words []string
		for _, w := range p.RetryOn {
			words = append(words, string(w))
		}
		c.given(path+".retry_on", strings.Join(words, ", "))
		if p.Backoff == (balance.Backoff{}) {
			c.given(path+".backoff", "none")
		} else {
			c.given(path+".backoff.cap", p.Backoff.Cap)
			c.given(path+".backoff.jitter", p.Backoff.Jitter)
		}
	}
}

func (c *compiler) serviceDefaults(n NodeBlock) {
	path := document.Join("topology", n.Name)
	c.given(path+".replicas", defaultReplicas)
	c.given(path+".work", "0s")
	c.given(path+".workers", defaultWorkers)
	c.given(path+".queue", 0)
	for _, call := range n.Service.Calls {
		at := path + ".calls." + call.To
		c.given(at+".algorithm", balance.RoundRobin)
		d := call.WithDefaults()
		c.given(at+".timeout", d.Timeout)
		c.policyDefaults(at, d)
	}
}
