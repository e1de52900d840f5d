package experiments_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"firedrill/experiments"
	"firedrill/experiments/library"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := experiments.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("experiment.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("experiment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON reads YAML as an editor would, into plain values.
func asJSON(t *testing.T, src []byte) any {
	t.Helper()
	b, err := yaml.YAMLToJSON(bytes.TrimPrefix(src, []byte("\uFEFF")))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestShippedSchemaIsUpToDate(t *testing.T) {
	schema, err := experiments.Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("library", library.SchemaFile), schema)
}

func TestSchemaAcceptsEveryGoodFile(t *testing.T) {
	schema := compiledSchema(t)
	files := corpus(t, "good", 10)
	shipped, err := filepath.Glob("library/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, shipped...) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(asJSON(t, src)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// The schema knows shapes, not meanings: these files of the corpus have a wrong shape.
func TestSchemaRefusesWrongShapes(t *testing.T) {
	schema := compiledSchema(t)
	for _, name := range strings.Fields(`
		unknown-key unknown-keys-everywhere no-unit negative-duration wrong-kinds not-a-number unknown-fault
		fault-of-later-version two-faults-in-one fault-without-kind fault-without-for fault-null-block no-load
		no-steady-state unknown-measure measure-of-later-version bound-in-wrong-unit latency-without-quantile
		bad-node-names no-kind kind-of-later-version unknown-kind breaker-of-later-version layer-4 abort-without-for
		backoff-word a-list just-text unknown-target`) {
		src, err := os.ReadFile(filepath.Join("testdata", "bad", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(asJSON(t, src)); err == nil {
			t.Errorf("%s: the schema finds nothing wrong with it", name)
		}
	}
}
