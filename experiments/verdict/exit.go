package verdict

// The exit codes of the built binary.
const (
	ExitPass         = 0
	ExitFail         = 1
	ExitInconclusive = 2
	ExitInvalid      = 3
	ExitError        = 4
	ExitAborted      = 5
	ExitUnverified   = 6
	ExitUsage        = 64
)

// rank orders verdicts for merging: the larger wins.
var rank = map[Word]int{Pass: 0, Inconclusive: 1, Invalid: 2, Fail: 3, Aborted: 4, Error: 5}

// Merge is the verdict of two together: error > aborted > fail > invalid > inconclusive > pass.
func Merge(a, b Word) Word {
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// MergeExit is the exit code of two together; a fault not verified as lifted (6) wins over all.
func MergeExit(a, b int) int {
	if exitRank[b] > exitRank[a] {
		return b
	}
	return a
}

var exitRank = map[int]int{
	ExitPass: 0, ExitInconclusive: 1, ExitInvalid: 2, ExitFail: 3, ExitAborted: 4, ExitError: 5, ExitUsage: 6, ExitUnverified: 7,
}

// ExitOf is the exit code of a verdict that came as it came (expected: pass).
func ExitOf(w Word) int {
	switch w {
	case Pass:
		return ExitPass
	case Fail:
		return ExitFail
	case Inconclusive:
		return ExitInconclusive
	case Invalid:
		return ExitInvalid
	case Aborted:
		return ExitAborted
	}
	return ExitError
}

// AsExpected is how a failure is called that the file itself announces.
const AsExpected = "fail, as expected"

// Explain says in words what an exit code means.
func Explain(code int) string {
	return meanings[code]
}

// Meaning says in words why a verdict has its exit code.
func Meaning(v Verdict) string {
	if v.Exit != ExitFail || v.Expected != Fail {
		return Explain(v.Exit)
	}
	switch v.Verdict {
	case Pass:
		return "the failure that the file expects was not shown: it passed"
	case Inconclusive:
		return "the failure that the file expects was not shown: not enough evidence to say"
	case Invalid:
		return "the failure that the file expects was not shown: nothing was injected"
	}
	return "it failed, but not as the file expects"
}

// MergedMeaning says in words why several verdicts together have an exit code.
func MergedMeaning(exit int, all []Verdict) string {
	meaning := ""
	for _, v := range all {
		switch {
		case v.Exit != exit:
		case meaning == "":
			meaning = Meaning(v)
		case meaning != Meaning(v):
			return Explain(exit)
		}
	}
	if meaning == "" {
		return Explain(exit)
	}
	return meaning
}

var meanings = map[int]string{
	ExitPass:         "every expectation held, or failed exactly as the file expects",
	ExitFail:         "an expectation was broken, or one that was expected to break was not",
	ExitInconclusive: "not enough evidence to say",
	ExitInvalid:      "not runnable as written, or the steady state did not hold; nothing was injected",
	ExitError:        "the harness or its environment failed",
	ExitAborted:      "stopped before its end; every fault was lifted and that was verified",
	ExitUnverified:   "a fault could not be verified as lifted",
	ExitUsage:        "wrong usage of the command line, or a path that cannot be read",
}
