package artifacts

import (
	"path"
	"strings"
)

// The checks a patch passes, in order; each problem belongs to one of them.
const (
	CheckSchema      = "schema"      // the form of the document
	CheckReferences  = "references"  // what it names is there (CFG-08)
	CheckExpressions = "expressions" // conditions and templates (CFG-09)
	CheckLimits      = "limits"      // what no document may raise (PLAT-07)
)

// signs are words of the sentences that problems are told in, by check. A
// golden test holds every sentence a document of testdata is refused with
// against them.
var signs = []struct {
	check string
	words []string
}{
	{CheckExpressions, []string{"does not compile: character", "at character ", "the condition ", "${", "the conditions "}},
	{CheckLimits, []string{"the limit is ", "the most is ", "only administrators ", "names that begin with "}},
	{CheckReferences, []string{
		"is not a node", "there is no tool ", "there is no workflow ", "there is no adapter ", "there is no cluster ",
		"there is no artifact ", "no tool this graph may call", "not among the tools", "is privileged", "no backend has a tier",
		"the program has no tool", " returns no ", "needs the input", "is itself a step of", "the program implements ",
		"administrators look after",
	}},
}

// CheckOf names the check that a problem of a document belongs to.
func CheckOf(p Problem) string {
	for _, s := range signs {
		for _, words := range s.words {
			if strings.Contains(p.Message, words) {
				return s.check
			}
		}
	}
	if strings.Contains(p.Message, "must be <=") && bound(path.Base(p.Path)) {
		return CheckLimits
	}
	return CheckSchema
}

// bound reports whether a member bounds what a run may use.
func bound(member string) bool {
	return strings.HasPrefix(member, "max_") || strings.HasSuffix(member, "_ms")
}
