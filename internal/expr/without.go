package expr

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// Outcome is what can be said of a condition before it is evaluated.
type Outcome int

// The outcomes. Depends is the one in doubt.
const (
	Depends  Outcome = iota // on values that are not known
	Holds                   // it is true
	HoldsNot                // it is false
	NoAnswer                // it fails, as null > 3 does
)

// Without says what becomes of the condition while a var is not set, whatever
// the other values are. The var is read by its bare name or as vars.name.
func (p *Program) Without(name string) Outcome {
	switch lack(name).of(p.root) {
	case yes:
		return Holds
	case no, null:
		return HoldsNot
	case fails:
		return NoAnswer
	default:
		return Depends
	}
}

// Paths gives what the condition reads, each as the names of its members with
// dots between; vars.x counts as x.
func (p *Program) Paths() []string {
	var paths []string
	for _, r := range p.reads {
		path := strings.TrimPrefix(r.String(), "vars.")
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// guess is what is known of a value that has not been computed.
type guess int

const (
	anything guess = iota
	null
	yes
	no
	something // neither null nor a truth value
	fails     // there is none: the evaluation ends
)

// lack is the name of a var that is not set.
type lack string

func (l lack) of(n ast.Node) guess {
	switch n := n.(type) {
	case *ast.NilNode:
		return null
	case *ast.BoolNode:
		if n.Value {
			return yes
		}
		return no
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return something
	case *ast.ArrayNode:
		if !slices.ContainsFunc(n.Nodes, func(e ast.Node) bool { return l.of(e) != something }) {
			return something
		}
	case *ast.IdentifierNode:
		if n.Value == "null" || n.Value == string(l) {
			return null
		}
	case *ast.ChainNode:
		return l.of(n.Node)
	case *ast.MemberNode:
		return l.member(n)
	case *ast.UnaryNode:
		return l.unary(n)
	case *ast.BinaryNode:
		return l.binary(n)
	case *ast.BuiltinNode:
		return l.builtin(n)
	}
	return anything
}

func (l lack) member(n *ast.MemberNode) guess {
	if r, ok := fixedPath(n); ok && (r.name == string(l) || r.name == "vars" && len(r.path) > 0 && r.path[0] == string(l)) {
		return null
	}
	if of := l.of(n.Node); of == null || of == fails {
		return of
	}
	return anything
}

func (l lack) unary(n *ast.UnaryNode) guess {
	v := l.of(n.Node)
	switch not := n.Operator == "not" || n.Operator == "!"; {
	case v == fails:
		return fails
	case not && (v == null || v == no):
		return yes
	case not && v == yes:
		return no
	case !not && v == null:
		return fails
	}
	return anything
}

func (l lack) binary(n *ast.BinaryNode) guess {
	left, right := l.of(n.Left), l.of(n.Right)
	switch n.Operator {
	case "and", "&&":
		return both(left, right)
	case "or", "||":
		return either(left, right)
	}
	if left == fails || right == fails {
		return fails
	}
	switch n.Operator {
	case "==":
		return alike(left, right)
	case "!=":
		return turned(alike(left, right))
	case "in":
		if right == null || left == null && right == something {
			return no
		}
	case "contains", "startsWith":
		if left == null || right == null {
			return no
		}
	default: // to order, and to reckon
		if left == null || right == null {
			return fails
		}
	}
	return anything
}

// both is and: what is right of it is not looked at where the left is false.
func both(left, right guess) guess {
	switch left {
	case fails:
		return fails
	case no, null:
		return no
	case yes:
		return truthOf(right)
	}
	if truthOf(right) == no {
		return no
	}
	return anything
}

// either is or, likewise.
func either(left, right guess) guess {
	switch left {
	case fails:
		return fails
	case yes:
		return yes
	case no, null:
		return truthOf(right)
	}
	if right == yes {
		return yes
	}
	return anything
}

// truthOf is a guess where true or false is needed: null counts as false.
func truthOf(v guess) guess {
	switch v {
	case null:
		return no
	case yes, no, fails:
		return v
	}
	return anything
}

func alike(left, right guess) guess {
	switch {
	case left == null && right == null:
		return yes
	case left == anything || right == anything:
		return anything
	case left == null || right == null:
		return no
	}
	return anything
}

func turned(v guess) guess {
	switch v {
	case yes:
		return no
	case no:
		return yes
	}
	return v
}

func (l lack) builtin(n *ast.BuiltinNode) guess {
	v := l.of(n.Arguments[0])
	switch {
	case v == fails:
		return fails
	case n.Name == "len" || n.Name == "lower":
		return something
	case v == null && n.Name == "any":
		return no
	case v == null && n.Name == "all":
		return yes
	}
	return anything
}
