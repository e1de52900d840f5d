package experiments

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"firedrill/experiments/expect"
	"firedrill/faults"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
)

// Schema is the JSON Schema (draft-07) of the file, generated from the types
// that decode it, for editors.
func Schema() ([]byte, error) {
	root := reflector().Reflect(&Experiment{})
	root.ID = ""
	root.Title = "firedrill experiment"
	// A twin has what it changes and takes the rest from the file it extends.
	whole := &jsonschema.Schema{Required: []string{"name", "topology", "load", "phases", "steady_state", "expect"}}
	twin := &jsonschema.Schema{Required: []string{"name", "extends"}}
	root.Required = nil
	root.AnyOf = []*jsonschema.Schema{whole, twin}
	root.Definitions["Selector"] = selectorSchema()
	root.Definitions["Dist"] = units.Dist{}.JSONSchema()
	b, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	var tree any
	if err = json.Unmarshal(b, &tree); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	tree = draft07(tree)
	if top, ok := tree.(map[string]any); ok {
		top["$schema"] = "http://json-schema.org/draft-07/schema#"
	}
	out, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return append(out, '\n'), nil
}

// draft07 rewrites what the generator spells in the 2020-12 way.
func draft07(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if key == "$defs" {
				key = "definitions"
			}
			out[key] = draft07(item)
		}
		return out
	case []any:
		for i := range v {
			v[i] = draft07(v[i])
		}
	case string:
		return strings.Replace(v, "#/$defs/", "#/definitions/", 1)
	}
	return v
}

func reflector() *jsonschema.Reflector {
	return &jsonschema.Reflector{FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true, ExpandedStruct: true, Mapper: mapped}
}

// inner reflects a type on its own, everything expanded in place.
func inner(v any) *jsonschema.Schema {
	r := reflector()
	r.DoNotReference = true
	r.Anonymous = true
	s := r.Reflect(v)
	s.Version = ""
	return s
}

// mapped are the types whose form in the file is not that of their fields.
func mapped(t reflect.Type) *jsonschema.Schema {
	text := func(description string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: description}
	}
	switch t {
	case reflect.TypeFor[Nodes]():
		node := &jsonschema.Schema{OneOf: []*jsonschema.Schema{withAlgorithms(inner(&BalancerBlock{})), inner(&ServiceBlock{})}}
		return &jsonschema.Schema{Type: "object", AdditionalProperties: node, PropertyNames: &jsonschema.Schema{Pattern: nodeName.String()}, Description: "the nodes by name; replicas are cart-1, cart-2, …"}
	case reflect.TypeFor[Calls]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: withAlgorithms(inner(&CallBlock{})), Description: "the calls made for each request, in this order"}
	case reflect.TypeFor[Selector]():
		return &jsonschema.Schema{Ref: "#/$defs/Selector"}
	case reflect.TypeFor[units.Dist]():
		return &jsonschema.Schema{Ref: "#/$defs/Dist"}
	case reflect.TypeFor[FaultEntry]():
		return faultSchema()
	case reflect.TypeFor[ExpectRow](), reflect.TypeFor[SteadyRow](), reflect.TypeFor[AbortRow]():
		return rowSchema(t)
	case reflect.TypeFor[Mark]():
		return text("an event of the run: applied, detection(cart-2), lifted + 1s")
	case reflect.TypeFor[PathList]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{text(""), {Type: "array", Items: text("")}}}
	case reflect.TypeFor[Settings]():
		return &jsonschema.Schema{Type: "object"}
	case reflect.TypeFor[balance.Backoff]():
		type fields balance.Backoff
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Const: balance.JitterNone}, inner(&fields{})}}
	case reflect.TypeFor[balance.Condition]():
		words := []any{balance.OnConnectFailure, balance.OnReset, balance.OnTimeout}
		least, most := json.Number("400"), json.Number("599")
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Enum: words}, {Type: "integer", Minimum: least, Maximum: most}}}
	}
	return nil
}

// withAlgorithms lists the algorithms of this version under their key.
func withAlgorithms(s *jsonschema.Schema) *jsonschema.Schema {
	algorithm := &jsonschema.Schema{Type: "string"}
	for _, name := range slices.Sorted(maps.Keys(balance.Algorithms)) {
		algorithm.Enum = append(algorithm.Enum, name)
	}
	s.Properties.Set("algorithm", algorithm)
	return s
}

func selectorSchema() *jsonschema.Schema {
	name := &jsonschema.Schema{Type: "string", Description: "a node, a replica, a link, or \"*\" with all: true"}
	type fields Selector
	block := inner(&fields{})
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{name, block, {Type: "array", Items: &jsonschema.Schema{OneOf: []*jsonschema.Schema{name, block}}}}}
}

// faultSchema has the common keys and one key for each kind.
func faultSchema() *jsonschema.Schema {
	s := inner(&faultTimes{})
	s.Required = []string{"on", "for"}
	for _, kind := range faults.Kinds() {
		s.Properties.Set(kind, inner(faults.Catalog[kind]()))
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Required: []string{kind}})
	}
	return s
}

// rowSchema has one key for each measure that may stand in such a row.
func rowSchema(t reflect.Type) *jsonschema.Schema {
	one := uint64(1)
	props := jsonschema.NewProperties()
	for _, measure := range slices.Sorted(maps.Keys(expect.Catalog)) {
		d := expect.Catalog[measure]
		if t != reflect.TypeFor[ExpectRow]() && !d.Steady {
			continue
		}
		body := inner(&RowBody{})
		body.Description = d.Meaning
		inUnit(body, d)
		if t == reflect.TypeFor[AbortRow]() {
			body.Required = []string{"for"}
		} else {
			body.Properties.Delete("for")
		}
		props.Set(measure, body)
	}
	return &jsonschema.Schema{Type: "object", Properties: props, AdditionalProperties: jsonschema.FalseSchema, MinProperties: &one, MaxProperties: &one}
}

// inUnit narrows a row's keys to those that its measure has, in its unit.
func inUnit(body *jsonschema.Schema, d expect.Definition) {
	figure := figureSchema(d.Unit)
	two := uint64(2)
	for _, key := range []string{"above", "below", "equals", "slack"} {
		body.Properties.Set(key, figure)
	}
	bound := figure
	if d.Predictable {
		bound = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{figure, {Const: "predicted"}}}
	}
	body.Properties.Set("min", bound)
	body.Properties.Set("max", bound)
	body.Properties.Set("between", &jsonschema.Schema{Type: "array", Items: figure, MinItems: &two, MaxItems: &two})
	if d.Quantile {
		body.Required = []string{"quantile"}
	} else {
		body.Properties.Delete("quantile")
		body.Properties.Delete("outcome")
	}
	if d.Of == expect.OfNone {
		body.Properties.Delete("of")
	}
	if !d.Time {
		body.Properties.Delete("none")
	}
	if !d.Predictable {
		body.Properties.Delete("slack")
	}
}

func figureSchema(unit string) *jsonschema.Schema {
	switch unit {
	case expect.Seconds:
		return &jsonschema.Schema{Ref: "#/$defs/Duration"}
	case expect.Share:
		return &jsonschema.Schema{Ref: "#/$defs/Percent"}
	case expect.Count:
		return &jsonschema.Schema{Type: "integer", Minimum: "0"}
	}
	return &jsonschema.Schema{Type: "number", Minimum: "0"}
}
