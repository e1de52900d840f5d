package experiments

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
)

// Derive is the seed of one component: a hash of the experiment's seed and the
// component's name, so that a draw that is added disturbs no other.
func Derive(seed uint64, name string) uint64 {
	text := append(binary.BigEndian.AppendUint64(nil, seed), name...)
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:8])
}

// TrialSeed is the seed of trial i, counted from 1.
func TrialSeed(seed uint64, i int) uint64 { return Derive(seed, "trial "+strconv.Itoa(i)) }

// draws are uniform draws of one component.
func draws(seed uint64, name string) *rand.Rand {
	return rand.New(rand.NewPCG(Derive(seed, name), 0))
}
