// Package check is the checks a document passes, and the faults they find.
//
// It lies below the packages that read documents (schemas, internal/graph,
// internal/routing), so that a fault says of which check it is where it is
// found, and nobody has to tell that from its words. It is pure, because they
// are, and imports the standard library only.
package check

import "strings"

// Kind is the check that a fault belongs to.
type Kind string

// The kinds, in the order in which the checks are made.
const (
	Schema      Kind = "schema"      // the form of the document
	References  Kind = "references"  // what it names is there (CFG-08)
	Expressions Kind = "expressions" // conditions and templates (CFG-09)
	Limits      Kind = "limits"      // what no document may raise (PLAT-07)
)

// Fault is one thing wrong with a document.
type Fault struct {
	Path    string `json:"path"`           // JSON pointer into the document; empty is the document itself
	Message string `json:"message"`        // one sentence: what is wrong
	Hint    string `json:"hint,omitempty"` // what to write instead
	// Kind is Schema where it is empty. It is neither told nor stored: whoever
	// keeps faults keeps them under their check.
	Kind Kind `json:"-"`
}

func (f Fault) String() string {
	s := f.Path + ": " + f.Message
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

// Faults is everything wrong with a document, in the order of its places.
type Faults []Fault

// Error lists every fault, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}
