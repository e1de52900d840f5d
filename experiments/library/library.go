package library

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed */*.yaml experiment.schema.json
var files embed.FS

// Schema is the JSON Schema (draft-07) of an experiment file.
func Schema() ([]byte, error) { return Read(SchemaFile) }

// SchemaFile is the schema's name beside the groups.
const SchemaFile = "experiment.schema.json"

// Names lists the shipped experiments as group/name.yaml, in alphabetical order.
func Names() ([]string, error) {
	names, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	return names, nil
}

// Read gives a shipped file by the name that Names has, with or without
// `.yaml`, or by its last part. It has the form that experiments.Decode wants
// for `extends`.
func Read(name string) ([]byte, error) {
	clean := path.Clean(name)
	if b, err := files.ReadFile(clean); err == nil {
		return b, nil
	}
	names, err := Names()
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if strings.TrimSuffix(path.Base(n), ".yaml") == strings.TrimSuffix(path.Base(clean), ".yaml") && (path.Dir(clean) == "." || path.Dir(clean) == path.Dir(n)) {
			b, err := files.ReadFile(n)
			if err != nil {
				return nil, fmt.Errorf("library: %w", err)
			}
			return b, nil
		}
	}
	return nil, fmt.Errorf("library: there is no experiment %q: there are %s", name, strings.Join(names, ", "))
}
