package expr

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// machine is one evaluation. The first error stops it: eval then returns nil
// all the way up.
type machine struct {
	env   Env
	fuel  int
	items []item // the items of the enclosing any/all, innermost last
	err   error
}

type item struct {
	value any
	index int
}

// spend takes n steps from the budget and says whether any is left.
func (m *machine) spend(n int) bool {
	if m.fuel -= n; m.fuel < 0 && m.err == nil {
		m.err = &Error{Message: fmt.Sprintf("the condition costs more steps than it may, at most %d", MaxCost)}
	}
	return m.err == nil
}

func (m *machine) fail(n ast.Node, format string, args ...any) any {
	if m.err == nil {
		m.err = &Error{Offset: n.Location().From, Message: fmt.Sprintf(format, args...)}
	}
	return nil
}

func (m *machine) eval(n ast.Node) any {
	if !m.spend(1) {
		return nil
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.StringNode:
		return n.Value
	case *ast.IdentifierNode:
		if n.Value == "null" {
			return nil
		}
		return m.env(n.Value)
	case *ast.ChainNode:
		return m.eval(n.Node)
	case *ast.MemberNode:
		return m.member(n)
	case *ast.ArrayNode:
		list := make([]any, len(n.Nodes))
		for i, e := range n.Nodes {
			list[i] = m.eval(e)
		}
		return list
	case *ast.UnaryNode:
		return m.unary(n)
	case *ast.BinaryNode:
		return m.binary(n)
	case *ast.BuiltinNode:
		return m.builtin(n)
	case *ast.CallNode:
		return m.call(n)
	case *ast.PredicateNode:
		return m.eval(n.Node)
	case *ast.PointerNode:
		return m.pointer(n)
	}
	return nil
}

func (m *machine) pointer(n *ast.PointerNode) any {
	if len(m.items) == 0 {
		return m.fail(n, "# has a meaning only inside any and all")
	}
	at := m.items[len(m.items)-1]
	if n.Name == "index" {
		return at.index
	}
	return at.value
}

func (m *machine) member(n *ast.MemberNode) any {
	of, key := m.eval(n.Node), m.eval(n.Property)
	if m.err != nil || of == nil || key == nil {
		return nil
	}
	if object, ok := of.(map[string]any); ok {
		name, ok := key.(string)
		if !ok {
			return m.fail(n, "a member of an object is named by a string, not %s", kind(key))
		}
		m.spend(len(name) / 64)
		return object[name]
	}
	list, ok := toList(of)
	if !ok {
		return m.fail(n, "%s has no members", kind(of))
	}
	i, isInt := toInt(key)
	switch {
	case !isInt:
		return m.fail(n, "a list is indexed by a whole number, not %s", kind(key))
	case i < 0 || i >= int64(len(list)):
		return nil
	}
	return list[i]
}

func (m *machine) unary(n *ast.UnaryNode) any {
	v := m.eval(n.Node)
	if m.err != nil {
		return nil
	}
	if n.Operator == "not" || n.Operator == "!" {
		b, ok := truth(v)
		if !ok {
			return m.fail(n, "not needs true or false, this is %s", kind(v))
		}
		return !b
	}
	f, ok := toFloat(v)
	if !ok {
		return m.fail(n, "%s needs a number, this is %s", n.Operator, kind(v))
	}
	if n.Operator == "-" {
		return -f
	}
	return f
}

func (m *machine) binary(n *ast.BinaryNode) any {
	left := m.eval(n.Left)
	if m.err != nil {
		return nil
	}
	switch n.Operator {
	case "and", "&&", "or", "||":
		return m.logic(n, left)
	}
	right := m.eval(n.Right)
	if m.err != nil {
		return nil
	}
	switch n.Operator {
	case "==":
		return m.equal(left, right, 0)
	case "!=":
		return !m.equal(left, right, 0)
	case "<", "<=", ">", ">=":
		return m.order(n, left, right)
	case "in":
		return m.in(n, left, right)
	case "contains":
		return m.contains(n, left, right)
	case "startsWith":
		return m.startsWith(n, left, right)
	}
	return m.arithmetic(n, left, right)
}

func (m *machine) logic(n *ast.BinaryNode, left any) any {
	or := n.Operator == "or" || n.Operator == "||"
	b, ok := truth(left)
	if !ok {
		return m.fail(n, "%s needs true or false, left of it is %s", n.Operator, kind(left))
	}
	if b == or {
		return b
	}
	right := m.eval(n.Right)
	if m.err != nil {
		return nil
	}
	if b, ok = truth(right); !ok {
		return m.fail(n, "%s needs true or false, right of it is %s", n.Operator, kind(right))
	}
	return b
}

func (m *machine) builtin(n *ast.BuiltinNode) any {
	v := m.eval(n.Arguments[0])
	if m.err != nil {
		return nil
	}
	switch n.Name {
	case "len":
		s, _ := v.(string)
		m.spend(len(s) / 64)
		size, ok := length(v)
		if !ok {
			return m.fail(n, "%s has no length", kind(v))
		}
		return size
	case "lower":
		s, ok := v.(string)
		if !ok && v != nil {
			return m.fail(n, "lower needs a string, this is %s", kind(v))
		}
		m.spend(len(s) / 64)
		return strings.ToLower(s)
	}
	return m.each(n, v)
}

// each is any and all over a list; of nothing, any is false and all is true.
func (m *machine) each(n *ast.BuiltinNode, v any) any {
	all := n.Name == "all"
	list, ok := toList(v)
	switch {
	case v == nil:
		return all
	case !ok:
		return m.fail(n, "%s needs a list, this is %s", n.Name, kind(v))
	case len(list) > MaxList:
		return m.fail(n, "%s over %d items, the limit is %d", n.Name, len(list), MaxList)
	}
	for i, value := range list {
		m.items = append(m.items, item{value, i})
		got := m.eval(n.Arguments[1])
		m.items = m.items[:len(m.items)-1]
		if m.err != nil {
			return nil
		}
		b, ok := truth(got)
		if !ok {
			return m.fail(n, "the condition in %s gives %s, not true or false", n.Name, kind(got))
		}
		if b != all {
			return b
		}
	}
	return all
}
