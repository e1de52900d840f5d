package balance

// splitmix is SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom
// Number Generators", 2014). It is here rather than taken from the standard
// library so that a record replays alike under every version of Go.
type splitmix struct{ state uint64 }

// Float64 is a uniform draw from [0, 1) with 53 bits.
func (s *splitmix) Float64() float64 {
	s.state += 0x9E3779B97F4A7C15
	z := s.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return float64((z^z>>31)>>11) / (1 << 53)
}
