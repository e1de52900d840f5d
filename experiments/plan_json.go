package experiments

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"firedrill/faults"
)

// faultFields is Fault without its method and with its spec still in text.
type faultFields struct {
	*faultAlias
	Spec json.RawMessage `json:"spec"`
}

type faultAlias Fault

// UnmarshalJSON finds the spec's type by the fault's kind.
func (f *Fault) UnmarshalJSON(b []byte) error {
	fields := faultFields{faultAlias: (*faultAlias)(f)}
	if err := json.Unmarshal(b, &fields); err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	spec, err := faults.New(f.Kind)
	if err != nil {
		return fmt.Errorf("fault %d: %w", f.ID, err)
	}
	if err := json.Unmarshal(fields.Spec, spec); err != nil {
		return fmt.Errorf("fault %d, %s: %w", f.ID, f.Kind, err)
	}
	f.Spec = spec
	return nil
}

// EncodePlan writes plan.json.
func EncodePlan(p *Plan) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return b.Bytes(), nil
}

// DecodePlan reads plan.json. A plan of another version, and one whose hash is
// not that of its content, are errors.
func DecodePlan(b []byte) (*Plan, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("plan: damaged: %w", Damage(err))
	}
	if head.Version != PlanVersion {
		return nil, fmt.Errorf("plan: version %d, this firedrill reads version %d", head.Version, PlanVersion)
	}
	p := new(Plan)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("plan: damaged: %w", Damage(err))
	}
	hash, err := p.Sum()
	if err != nil {
		return nil, err
	}
	if hash != p.Hash {
		return nil, fmt.Errorf("plan: its hash is %.12s but its content has %.12s: it was changed after it was made", p.Hash, hash)
	}
	return p, nil
}

// Sum is the hash over everything but Hash and Predictions.
func (p *Plan) Sum() (string, error) {
	bare := *p
	bare.Hash, bare.Predictions = "", nil
	b, err := json.Marshal(&bare)
	if err != nil {
		return "", fmt.Errorf("plan hash: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
