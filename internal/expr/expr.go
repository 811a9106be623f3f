// Package expr is the small condition language of graphs and routing
// policies: expr-lang's grammar with everything switched off but comparison,
// in, and/or/not, arithmetic, len, lower, contains, startsWith,
// cosine_similarity, cluster_label_contains, any and all.
//
// The grammar is parsed by expr-lang; the evaluation is this package's own,
// because it must run inside Temporal workflows: the same values always give
// the same answer, no clock or random source can be reached, nothing is looked
// up by reflection, and each evaluation has a fixed budget (MaxCost) whatever
// a model may have written.
//
// It imports pure packages of the standard library and expr-lang's parser, and
// knows nothing of graphs.
package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// The bounds of a condition. They are part of the language: raising one
// changes which documents are valid.
const (
	MaxSource   = 4 << 10  // bytes of source
	MaxNodes    = 512      // nodes of the syntax tree, shared ones counted at each place
	MaxClosures = 2        // any/all inside any/all
	MaxList     = 10_000   // items any, all and in will look through
	MaxString   = 64 << 10 // bytes of a string that + may build
	MaxCost     = 100_000  // steps of one evaluation
)

// Scope says which names a condition may read, for refusing unknown ones when
// it is written. The zero Scope refuses nothing.
type Scope struct {
	// Names are the bare names that can exist; nil means any.
	Names []string
	// Fields lists, for a name whose members are all known, those members:
	// {"vars": {"intent"}} refuses vars.intend. A name without an entry may
	// have any member.
	Fields map[string][]string
}

// Program is a compiled condition, safe for concurrent use.
type Program struct {
	source string
	root   ast.Node
	reads  []read
}

// Error says what is wrong with a condition and where.
type Error struct {
	Offset  int    // in characters from the start of the source
	Message string // one sentence without the position
	Hint    string // what to write instead; may be empty
}

// Error gives the sentence with its position, counted from one.
func (e *Error) Error() string {
	s := fmt.Sprintf("at character %d: %s", e.Offset+1, e.Message)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Compile parses a condition and refuses whatever is outside the language, too
// large, or reads a name scope says cannot exist. The error is an *Error.
//
// Requirements: ROUTE-03, GRAPH-19.
func Compile(source string, scope Scope) (*Program, error) {
	if len(source) > MaxSource {
		return nil, &Error{Message: fmt.Sprintf("the condition has %d bytes, the limit is %d", len(source), MaxSource)}
	}
	if strings.TrimSpace(source) == "" {
		return nil, &Error{Message: "the condition is empty", Hint: "write true for a branch that is always taken"}
	}
	root, err := parse(source)
	if err != nil {
		return nil, err
	}
	c := checker{scope: scope}
	c.node(root, 0)
	if c.err != nil {
		return nil, c.err
	}
	return &Program{source: source, root: root, reads: c.reads}, nil
}

// parse keeps every way the third-party parser can end inside an *Error. The
// checker is told to ignore it: the parser ranges over a map only to look into
// an environment struct, and is given none.
//
//workflowcheck:ignore
func parse(source string) (root ast.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &Error{Message: "the condition cannot be read"}
		}
	}()
	tree, perr := parser.Parse(source)
	var at *file.Error
	switch {
	case errors.As(perr, &at):
		return nil, &Error{Offset: at.From, Message: readableMessage(at.Message), Hint: syntaxHint(source)}
	case perr != nil:
		return nil, &Error{Message: perr.Error()}
	case tree == nil || tree.Node == nil:
		return nil, &Error{Message: "the condition cannot be read"}
	}
	return tree.Node, nil
}

// String gives the source.
func (p *Program) String() string { return p.source }

// Env gives the value of a bare name; nil for one that is not set.
type Env func(name string) any

// Map is an Env over a map.
func Map(values map[string]any) Env {
	return func(name string) any { return values[name] }
}

// Eval gives the value of the condition. Numbers are JSON numbers: an int and
// a float of the same value are equal. A name that is not set is nil, and so
// is every member of nil. The error names the operation that has no answer,
// such as ordering a string and a number, or says that the budget is spent.
func (p *Program) Eval(env Env) (any, error) {
	budget := MaxCost
	return p.eval(env, &budget)
}

// eval takes what it costs from the budget, and never more than MaxCost.
func (p *Program) eval(env Env, budget *int) (any, error) {
	fuel := max(0, min(MaxCost, *budget))
	m := machine{env: env, fuel: fuel}
	v := m.eval(p.root)
	*budget -= fuel - m.fuel
	if m.err != nil {
		return nil, m.err
	}
	return v, nil
}

// True evaluates a condition that must be true or false; nil, a name not set,
// counts as false.
func (p *Program) True(env Env) (bool, error) {
	budget := MaxCost
	return p.Within(env, &budget)
}

// Within is True with a budget shared by several conditions: it takes the
// steps this one costs from it, and gives an error when they are not there.
func (p *Program) Within(env Env, budget *int) (bool, error) {
	v, err := p.eval(env, budget)
	if err != nil {
		return false, err
	}
	switch b := v.(type) {
	case nil:
		return false, nil
	case bool:
		return b, nil
	}
	return false, &Error{
		Message: "the condition gives " + kind(v) + ", not true or false",
		Hint:    "compare it, as in len(docs) > 0",
	}
}
