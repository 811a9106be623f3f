package expr

import (
	"cmp"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// maxDepth bounds how deep two values are compared.
const maxDepth = 64

// equal compares by value: numbers as numbers, lists and objects by members.
// Values of different kinds are unequal, never an error.
func (m *machine) equal(a, b any, depth int) bool {
	if !m.spend(1) || depth > maxDepth {
		return false
	}
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		m.spend(min(len(x), len(y)) / 64)
		return ok && x == y
	}
	if x, ok := a.(bool); ok {
		y, ok := b.(bool)
		return ok && x == y
	}
	if x, ok := toFloat(a); ok {
		return numbersEqual(a, b, x)
	}
	if x, ok := a.(map[string]any); ok {
		y, ok := b.(map[string]any)
		return ok && len(x) == len(y) && m.spend(len(x)) && m.sameMembers(x, y, depth)
	}
	x, xok := toList(a)
	y, yok := toList(b)
	if !xok || !yok {
		return a == nil && b == nil
	}
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !m.equal(x[i], y[i], depth+1) {
			return false
		}
	}
	return true
}

func numbersEqual(a, b any, x float64) bool {
	if i, ok := toInt(a); ok {
		if j, ok := toInt(b); ok {
			return i == j
		}
	}
	y, ok := toFloat(b)
	return ok && x == y
}

func (m *machine) sameMembers(x, y map[string]any, depth int) bool {
	for _, key := range sortedKeys(x) {
		other, ok := y[key]
		if !ok || !m.equal(x[key], other, depth+1) {
			return false
		}
	}
	return true
}

func (m *machine) order(n *ast.BinaryNode, left, right any) any {
	if a, ok := left.(string); ok {
		b, _ := right.(string)
		m.spend(min(len(a), len(b)) / 64)
	}
	c, ok := compare(left, right)
	if !ok {
		return m.fail(n, "%s cannot order %s and %s", n.Operator, kind(left), kind(right))
	}
	switch n.Operator {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func compare(left, right any) (int, bool) {
	if a, ok := left.(string); ok {
		b, ok := right.(string)
		return strings.Compare(a, b), ok
	}
	if i, ok := toInt(left); ok {
		if j, ok := toInt(right); ok {
			return cmp.Compare(i, j), true
		}
	}
	a, aok := toFloat(left)
	b, bok := toFloat(right)
	return cmp.Compare(a, b), aok && bok
}

// in looks a value up in a list, a key in an object, a piece in a string.
func (m *machine) in(n ast.Node, value, within any) any {
	switch w := within.(type) {
	case nil:
		return false
	case string:
		return m.contains(n, within, value)
	case map[string]any:
		key, ok := value.(string)
		m.spend(len(key) / 64)
		_, found := w[key]
		return ok && found
	}
	list, ok := toList(within)
	switch {
	case !ok:
		return m.fail(n, "in needs a list, this is %s", kind(within))
	case len(list) > MaxList:
		return m.fail(n, "in over %d items, the limit is %d", len(list), MaxList)
	}
	for _, e := range list {
		if m.equal(value, e, 0) {
			return true
		}
	}
	return false
}

func (m *machine) contains(n ast.Node, within, piece any) any {
	if within == nil || piece == nil {
		return false
	}
	s, ok := within.(string)
	if !ok {
		return m.in(n, piece, within)
	}
	p, ok := piece.(string)
	if !ok {
		return m.fail(n, "a string contains strings, not %s", kind(piece))
	}
	m.spend((len(s) + len(p)) / 64)
	return strings.Contains(s, p)
}

func (m *machine) startsWith(n ast.Node, value, prefix any) any {
	if value == nil || prefix == nil {
		return false
	}
	s, sok := value.(string)
	p, pok := prefix.(string)
	if !sok || !pok {
		return m.fail(n, "startsWith compares strings, not %s and %s", kind(value), kind(prefix))
	}
	m.spend(min(len(s), len(p)) / 64)
	return strings.HasPrefix(s, p)
}

func (m *machine) arithmetic(n *ast.BinaryNode, left, right any) any {
	if s, ok := left.(string); ok && n.Operator == "+" {
		return m.concat(n, s, right)
	}
	a, aok := toFloat(left)
	b, bok := toFloat(right)
	if !aok || !bok {
		return m.fail(n, "%s needs two numbers, these are %s and %s", n.Operator, kind(left), kind(right))
	}
	var out float64
	switch n.Operator {
	case "+":
		out = a + b
	case "-":
		out = a - b
	case "*":
		out = a * b
	case "/", "%":
		if b == 0 {
			return m.fail(n, "division by zero")
		}
		if out = a / b; n.Operator == "%" {
			out = math.Mod(a, b)
		}
	}
	if math.IsInf(out, 0) || math.IsNaN(out) {
		return m.fail(n, "the result of %s is not a finite number", n.Operator)
	}
	return out
}

func (m *machine) concat(n *ast.BinaryNode, s string, right any) any {
	r, ok := right.(string)
	switch {
	case !ok:
		return m.fail(n, "a string and %s cannot be added", kind(right))
	case len(s)+len(r) > MaxString:
		return m.fail(n, "the string would have %d bytes, the limit is %d", len(s)+len(r), MaxString)
	}
	m.spend((len(s) + len(r)) / 64)
	return s + r
}

func (m *machine) call(n *ast.CallNode) any {
	a, b := m.eval(n.Arguments[0]), m.eval(n.Arguments[1])
	if m.err != nil {
		return nil
	}
	if f, _ := n.Callee.(*ast.IdentifierNode); f != nil && f.Value == "cosine_similarity" {
		return m.cosine(n, a, b)
	}
	return m.labelContains(n, a, b)
}

// cosine is 0 when either vector is absent, empty or zero, so that an adapter
// without a centroid is simply not near.
func (m *machine) cosine(n ast.Node, a, b any) any {
	x, xok := vector(a)
	y, yok := vector(b)
	switch {
	case !xok || !yok:
		return m.fail(n, "cosine_similarity compares lists of numbers, not %s and %s", kind(a), kind(b))
	case len(x) == 0 || len(y) == 0:
		return 0.0
	case len(x) != len(y):
		return m.fail(n, "cosine_similarity of vectors with %d and %d dimensions", len(x), len(y))
	}
	m.spend(len(x) / 16)
	var dot, xx, yy float64
	for i := range x {
		dot += x[i] * y[i]
		xx += x[i] * x[i]
		yy += y[i] * y[i]
	}
	norm := math.Sqrt(xx) * math.Sqrt(yy)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return 0.0
	}
	return dot / norm
}

// labelContains looks for text, ignoring case, in a cluster's label: a string,
// an object with a label, or a list of either.
func (m *machine) labelContains(n ast.Node, label, text any) any {
	t, ok := text.(string)
	if !ok {
		return m.fail(n, "cluster_label_contains looks for a string, not %s", kind(text))
	}
	list, ok := toList(label)
	if !ok {
		list = []any{label}
	}
	m.spend(len(t) / 64)
	t = strings.ToLower(t)
	for _, l := range list {
		if object, ok := l.(map[string]any); ok {
			l = object["label"]
		}
		s, _ := l.(string)
		if m.spend(1+len(s)/64) && s != "" && strings.Contains(strings.ToLower(s), t) {
			return true
		}
	}
	return false
}
