package artifacts

import (
	"cmp"

	"liminal/internal/check"
)

// The checks a patch passes, in order; each problem belongs to one of them.
const (
	CheckSchema      = string(check.Schema)
	CheckReferences  = string(check.References)
	CheckExpressions = string(check.Expressions)
	CheckLimits      = string(check.Limits)
)

// CheckOf names the check that a problem of a document belongs to. One that
// does not say, such as one read back from JSON, is of the schema.
func CheckOf(p Problem) string { return string(cmp.Or(p.Kind, check.Schema)) }
