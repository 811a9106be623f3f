package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/check"
	"liminal/internal/expr"
)

// The bounds of a document.
const (
	maxDocument        = 1 << 20 // bytes
	maxDocumentNesting = 100     // levels of lists and objects
)

// Parse reads a workflow.chat document. The error is Faults with all that is
// wrong: a document that passes can only fail by what its tools and people do,
// never by its form. A nil Tools knows no tool.
//
// Requirements: GRAPH-01, GRAPH-02, GRAPH-19, PLAT-07, TOOL-17.
func Parse(doc []byte, tools Tools, lim Limits) (*Graph, error) {
	p, err := parse(doc, tools, lim)
	if err != nil {
		return nil, err
	}
	return p.g, nil
}

// parse is Parse with what the parser knows beside the graph.
func parse(doc []byte, tools Tools, lim Limits) (*parser, error) {
	if len(doc) > maxDocument {
		return nil, Faults{{Message: fmt.Sprintf("the document has %d bytes, the limit is %d", len(doc), maxDocument), Kind: check.Limits}}
	}
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, Faults{{Message: "the document is not JSON: " + err.Error(), Kind: check.Schema}}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, Faults{{Message: "the document is not an object but " + typeName(v), Kind: check.Schema}}
	}
	if n := nesting(v); n > maxDocumentNesting {
		return nil, Faults{{Message: fmt.Sprintf("the document nests %d levels deep, the limit is %d", n, maxDocumentNesting), Kind: check.Limits}}
	}
	tools = tools.copied()
	p := &parser{lim: lim, tools: tools, g: &Graph{
		index: map[string]int{}, tools: tools, limits: lim, digest: digest(doc),
	}}
	if lim.Stored {
		forgive(m)
	}
	p.document(fields{p, "", m})
	if len(p.faults) > 0 {
		slices.SortStableFunc(p.faults, func(a, b Fault) int { return comparePaths(a.Path, b.Path) })
		return nil, p.faults
	}
	return p, nil
}

// comparePaths orders pointers as they stand in a document, nodes by number.
func comparePaths(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX == nil && errY == nil && x != y {
			return x - y
		}
		if as[i] != bs[i] {
			return strings.Compare(as[i], bs[i])
		}
	}
	return len(as) - len(bs)
}

// parser collects the faults of a document. What can only be checked when all
// nodes are known is kept in the lists and checked last.
type parser struct {
	g          *Graph
	tools      Tools
	lim        Limits
	faults     Faults
	allowed    []string // of the document's tools
	restricted bool     // the document has tools
	retries    int
	targets    []target
	conditions []condition
	templates  []located
	items      []string // names maps give
	vars       []string // names nodes set
	unsaved    []int    // nodes that name a var to save as and whose type does not read it
	input      []string // members of the input, if closed
	closed     bool
}

type target struct{ path, id string }

type condition struct {
	path, source string
	set          func(*expr.Program)
}

type located struct {
	path string
	t    template
}

// fault keeps one of the form of the document.
func (p *parser) fault(path, hint, format string, args ...any) {
	p.faultOf(check.Schema, path, hint, format, args...)
}

func (p *parser) faultOf(kind check.Kind, path, hint, format string, args ...any) {
	p.faults = append(p.faults, Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint, Kind: kind})
}

func (p *parser) document(f fields) {
	if kind, _ := f.m["kind"].(string); kind != "workflow.chat" {
		p.fault("/kind", "", "kind is %s, not \"workflow.chat\"", expr.Show(f.m["kind"]))
	}
	g := p.g
	run := f.millis("timeout_ms", p.lim.Run.Milliseconds(), 1000, p.lim.MaxRun.Milliseconds())
	g.timeout = within(run)
	p.retries = f.integer("max_retries", min(2, p.lim.MaxRetries), 0, p.lim.MaxRetries)
	g.maxSteps = f.integer("max_steps", p.lim.MaxSteps, 1, p.lim.MaxSteps)
	g.maxVisits = f.integer("max_visits", p.lim.MaxVisits, 1, p.lim.MaxVisits)
	g.persist = f.strings("persist")
	p.vars = append(p.vars, g.persist...)
	p.vars = append(p.vars, "error")
	_, p.restricted = f.m["tools"]
	p.allowed = f.strings("tools")
	p.inputSchema(f)
	p.nodes(f)
	entry := f.text("entrypoint")
	if i, ok := g.index[entry]; ok {
		g.entry = i
	} else if entry != "" {
		p.faultOf(check.References, "/entrypoint", expr.Nearest(entry, p.ids()), "the entrypoint %q is not a node", entry)
	}
	p.resolve()
	if len(p.faults) == 0 {
		p.finish()
	}
}

// inputSchema learns which members the input has, where the schema is closed.
func (p *parser) inputSchema(f fields) {
	for _, key := range []string{"input_schema", "output_schema"} {
		if v, ok := f.m[key]; ok {
			if _, ok := v.(map[string]any); !ok {
				p.fault("/"+key, "", "%s is not an object but %s", key, typeName(v))
			}
		}
	}
	schema, _ := f.m["input_schema"].(map[string]any)
	properties, ok := schema["properties"].(map[string]any)
	if ok && schema["additionalProperties"] == false {
		p.input, p.closed = sortedKeys(properties), true
	}
}

func (p *parser) ids() []string { return sortedKeys(p.g.index) }

func (p *parser) nodes(f fields) {
	l, ok := f.m["nodes"].([]any)
	switch {
	case !ok:
		p.fault("/nodes", "", "nodes is not a list but %s", typeName(f.m["nodes"]))
		return
	case len(l) == 0:
		p.fault("/nodes", "", "the graph has no nodes")
		return
	case len(l) > p.lim.MaxNodes:
		p.faultOf(check.Limits, "/nodes", "split it: a workflow node runs another artifact", "the graph has %d nodes, the limit is %d", len(l), p.lim.MaxNodes)
		return
	}
	p.g.nodes = make([]node, len(l))
	for i, v := range l {
		path := "/nodes/" + strconv.Itoa(i)
		m, ok := v.(map[string]any)
		if !ok {
			p.fault(path, "", "the node is not an object but %s", typeName(v))
			continue
		}
		p.node(i, fields{p, path, m})
	}
}

// node reads what all types have in common, and then the type's own.
func (p *parser) node(i int, f fields) {
	n := &p.g.nodes[i]
	n.id = f.text("id")
	p.register(i, n.id, f.path)
	n.kind = NodeType(f.text("type"))
	if f.m["save_as"] != nil && n.kind != Interrupt && n.kind != Agent {
		p.unsaved = append(p.unsaved, i)
	}
	if f.optional("description") != "" {
		n.description = p.described(f)
	}
	n.stage = f.node("stage")
	n.quiet = f.boolean("quiet")
	if stream := f.boolean("stream"); f.m["stream"] != nil {
		n.stream = &stream
	}
	n.next, n.onError = f.node("next"), f.node("on_error")
	retries := p.retries
	if n.kind == Workflow {
		retries = 0 // its nodes have had theirs, and not all may be repeated (C-49)
	}
	n.retries = f.integer("max_retries", retries, 0, p.lim.MaxRetries)
	n.backoff = within(f.millis("backoff_ms", defaultBackoff.Milliseconds(), 1, p.lim.MaxBackoff.Milliseconds()))
	if n.kind != Interrupt {
		standard := min(p.lim.Timeout, p.lim.MaxTimeout)
		n.timeout = within(f.millis("timeout_ms", standard.Milliseconds(), 1, p.lim.MaxTimeout.Milliseconds()))
	}
	if _, n.declared = f.m["outputs"]; n.declared {
		n.outputs = f.strings("outputs")
		p.vars = append(p.vars, n.outputs...)
	}
	n.inputs = f.object("inputs")
	if _, ok := f.m["when"]; ok {
		f.condition("when", func(c *expr.Program) { n.when = c })
	}
	p.typed(n, f)
}

func (p *parser) register(i int, id, path string) {
	if id == "" {
		return
	}
	if first, taken := p.g.index[id]; taken {
		p.fault(path+"/id", "", "the id %q is taken by node %d", id, first)
		return
	}
	if !validID(id) {
		p.fault(path+"/id", "use up to 64 letters, digits, _ . -", "the id %q has characters that are not allowed", id)
	}
	p.g.index[id] = i
}

func validID(id string) bool {
	for _, c := range []byte(id) {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
		if !ok {
			return false
		}
	}
	return len(id) <= 64
}

func (p *parser) typed(n *node, f fields) {
	switch n.kind {
	case ToolCall:
		p.toolCall(n, f)
	case Switch:
		p.branches(n, f, true)
	case Parallel:
		p.branches(n, f, false)
	case Map:
		p.mapNode(n, f)
	case Interrupt:
		p.interrupt(n, f)
	case Agent:
		p.agent(n, f)
	case Workflow:
		n.workflow = f.text("workflow")
		p.sets(n, n.id)
	case Set:
		p.set(n, f)
	case End:
		n.end = endOf{f.template("response"), f.template("citations"), f.template("data")}
		if n.when != nil || f.m["when"] != nil {
			p.fault(f.path+"/when", "put a switch before it", "an end node has no when")
		}
	case "":
	default:
		p.fault(f.path+"/type", "one of tool_call, switch, parallel, map, interrupt, agent, workflow, set, end", "there is no node type %q", n.kind)
	}
}

// sets records the var a node writes when it declares no outputs.
func (p *parser) sets(n *node, name string) {
	if !n.declared {
		p.vars = append(p.vars, name)
	}
}

// described is the template of what people see at a node. In a stored document
// it may be older than templates in it, and is then plain text.
func (p *parser) described(f fields) template {
	if !p.lim.Stored {
		return f.template("description")
	}
	written, _ := f.m["description"].(string)
	plain := false
	t := compile(written, "", func(string, string, string) { plain = true })
	if plain {
		return template{kind: constant, value: written}
	}
	return t
}

// forgive takes out of a stored document what says nothing today: members that
// were nobody's when it was accepted, and have a meaning by now that they do
// not fit (PLAT-08).
func forgive(doc map[string]any) {
	nodes, _ := doc["nodes"].([]any)
	ids := map[string]bool{}
	for _, v := range nodes {
		if n, ok := v.(map[string]any); ok {
			if id, ok := n["id"].(string); ok {
				ids[id] = true
			}
		}
	}
	for _, v := range nodes {
		n, _ := v.(map[string]any)
		if stage, ok := n["stage"].(string); !ok || !ids[stage] {
			delete(n, "stage")
		}
		if _, ok := n["stream"].(bool); !ok {
			delete(n, "stream")
		}
		if _, ok := n["ground"].(map[string]any); !ok {
			delete(n, "ground")
		}
		if optional, ok := n["optional"].(bool); !ok || optional && n["on_error"] == nil {
			delete(n, "optional")
		}
	}
}
