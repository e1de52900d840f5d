package expect

import "firedrill/experiments/verdict"

// Model foretells a row in closed form. The error says which premise fails
// when there is no closed form for it.
type Model interface {
	Predict(r Row) (verdict.Estimate, error)
}
