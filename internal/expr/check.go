package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// read is one path the condition reads: a bare name and the fixed members
// after it. Explain shows their values.
type read struct {
	name string
	path []string
}

func (r read) String() string {
	return strings.Join(append([]string{r.name}, r.path...), ".")
}

// checker walks the syntax tree once and admits what is in the language. It
// stops at the first fault.
type checker struct {
	scope Scope
	count int
	reads []read
	err   *Error
}

var binaries = []string{
	"==", "!=", "<", "<=", ">", ">=", "in", "contains", "startsWith",
	"and", "&&", "or", "||", "+", "-", "*", "/", "%",
}

const allowed = "allowed are comparison, in, and, or, not, arithmetic, contains, startsWith, len, lower, any, all, cosine_similarity, cluster_label_contains"

func (c *checker) fail(n ast.Node, hint, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{Offset: n.Location().From, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
}

// node admits n at a depth of enclosing any/all. Chained comparisons share
// sub-trees, so the count is what keeps the walk short, not the parser's own.
func (c *checker) node(n ast.Node, depth int) {
	if c.err != nil {
		return
	}
	if c.count++; c.count > MaxNodes {
		c.fail(n, "split it over two switch nodes", "the condition is too large (more than %d parts)", MaxNodes)
		return
	}
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
	case *ast.IdentifierNode:
		c.read(n, read{name: n.Value})
	case *ast.MemberNode:
		c.member(n, depth)
	case *ast.ChainNode:
		c.node(n.Node, depth)
	case *ast.ArrayNode:
		c.nodes(n.Nodes, depth)
	case *ast.UnaryNode:
		c.node(n.Node, depth)
	case *ast.BinaryNode:
		if !slices.Contains(binaries, n.Operator) {
			c.fail(n, allowed, "the operator %s is not part of conditions", n.Operator)
			return
		}
		c.node(n.Left, depth)
		c.node(n.Right, depth)
	case *ast.BuiltinNode:
		c.builtin(n, depth)
	case *ast.CallNode:
		c.call(n, depth)
	case *ast.PredicateNode:
		c.node(n.Node, depth)
	case *ast.PointerNode:
		if n.Name != "" && n.Name != "index" {
			c.fail(n, "write # for the item, #index for its place", "#%s is not part of conditions", n.Name)
		}
	case nil:
		c.err = &Error{Message: "the condition cannot be read"}
	default:
		c.fail(n, allowed, "%s is not part of conditions", construct(n))
	}
}

func (c *checker) nodes(list []ast.Node, depth int) {
	for _, n := range list {
		c.node(n, depth)
	}
}

func (c *checker) builtin(n *ast.BuiltinNode, depth int) {
	switch n.Name {
	case "len", "lower":
		if len(n.Arguments) != 1 {
			c.fail(n, "", "%s takes 1 argument, not %d", n.Name, len(n.Arguments))
		}
	case "any", "all":
		if depth++; depth > MaxClosures {
			c.fail(n, "", "any and all may be nested %d deep", MaxClosures)
		}
		if len(n.Arguments) != 2 {
			c.fail(n, "write any(list, # == 1)", "%s takes a list and a condition", n.Name)
		}
	default:
		c.fail(n, allowed, "the function %s is not part of conditions", n.Name)
	}
	c.nodes(n.Arguments, depth)
}

func (c *checker) call(n *ast.CallNode, depth int) {
	f, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		c.fail(n, allowed, "a value cannot be called like a function")
		return
	}
	switch f.Value {
	case "cosine_similarity", "cluster_label_contains":
		if len(n.Arguments) != 2 {
			c.fail(n, "", "%s takes 2 arguments, not %d", f.Value, len(n.Arguments))
		}
	default:
		c.fail(n, allowed, "the function %s is not part of conditions", f.Value)
	}
	c.nodes(n.Arguments, depth)
}

// member admits a.b, a['b'] and a[i]; a path of fixed names from a bare name
// is one read and checked as a whole.
func (c *checker) member(n *ast.MemberNode, depth int) {
	if n.Method {
		c.fail(n, allowed, "a value has no methods")
		return
	}
	if r, ok := fixedPath(n); ok {
		c.read(n, r)
		return
	}
	c.node(n.Node, depth)
	c.node(n.Property, depth)
}

func fixedPath(n ast.Node) (read, bool) {
	var path []string
	for range MaxNodes {
		switch at := n.(type) {
		case *ast.IdentifierNode:
			slices.Reverse(path)
			return read{name: at.Value, path: path}, at.Value != "null"
		case *ast.ChainNode:
			n = at.Node
		case *ast.MemberNode:
			key, ok := at.Property.(*ast.StringNode)
			if !ok || at.Method {
				return read{}, false
			}
			path = append(path, key.Value)
			n = at.Node
		default:
			return read{}, false
		}
	}
	return read{}, false
}

func (c *checker) read(n ast.Node, r read) {
	if r.name == "null" && len(r.path) == 0 {
		return
	}
	if c.scope.Names != nil && !slices.Contains(c.scope.Names, r.name) {
		c.fail(n, Nearest(r.name, c.scope.Names), "nothing in the graph sets %s", r.name)
		return
	}
	fields, known := c.scope.Fields[r.name]
	if known && len(r.path) > 0 && !slices.Contains(fields, r.path[0]) {
		c.fail(n, Nearest(r.path[0], fields), "nothing in the graph sets %s.%s", r.name, r.path[0])
		return
	}
	same := func(x read) bool { return x.name == r.name && slices.Equal(x.path, r.path) }
	if !slices.ContainsFunc(c.reads, same) {
		c.reads = append(c.reads, r)
	}
}

func construct(n ast.Node) string {
	switch n.(type) {
	case *ast.ConditionalNode:
		return "a choice with ? or if"
	case *ast.SliceNode:
		return "a slice"
	case *ast.MapNode, *ast.PairNode:
		return "a map literal"
	case *ast.VariableDeclaratorNode:
		return "let"
	case *ast.SequenceNode:
		return "a sequence with ;"
	}
	return "this construct"
}

// readableMessage takes the parser's own words for tokens out of its message:
// Operator("=") is just "=".
func readableMessage(message string) string {
	before, token, ok := strings.Cut(message, "unexpected token ")
	if !ok {
		return message
	}
	if token == "EOF" {
		return before + "it ends too early"
	}
	if _, quoted, ok := strings.Cut(token, "("); ok {
		token = strings.TrimSuffix(quoted, ")")
	}
	return before + "unexpected " + token
}

// syntaxHint guesses the habit behind a syntax error.
func syntaxHint(source string) string {
	switch {
	case strings.Contains(source, "${"):
		return "conditions name values directly: intent == 'qa', not ${vars.intent} == 'qa'"
	case strings.Contains(source, "==="):
		return "equality is =="
	case strings.Contains(source, "=") && !strings.ContainsAny(strings.ReplaceAll(source, "==", ""), "!<>"):
		return "equality is =="
	}
	return ""
}
