package graph

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/check"
	"liminal/internal/expr"
)

func (p *parser) toolCall(n *node, f fields) {
	n.tool = f.text("tool")
	p.sets(n, n.id)
	if f.boolean("optional") {
		if n.onError == "" {
			p.fault(f.path+"/on_error", "name the node that runs where the tool is not there", "an optional tool_call needs on_error")
		}
		if spec, there := p.tools[n.tool]; !there || spec.Absent {
			n.absent = true
			return
		}
	}
	spec, ok := p.tool(n.tool, f.path+"/tool")
	if !ok {
		return
	}
	for i, name := range n.outputs {
		if spec.Outputs != nil && !slices.Contains(spec.Outputs, name) {
			p.faultOf(check.References, f.path+"/outputs/"+strconv.Itoa(i), expr.Nearest(name, spec.Outputs), "tool %s returns no %q", n.tool, name)
		}
	}
	given, _ := f.m["inputs"].(map[string]any)
	for _, name := range spec.Required {
		if _, ok := given[name]; !ok {
			p.faultOf(check.References, f.path+"/inputs", expr.Nearest(name, sortedKeys(given)), "tool %s needs the input %q", n.tool, name)
		}
	}
}

// tool finds a tool the graph names and may use.
func (p *parser) tool(name, path string) (Tool, bool) {
	if name == "" {
		return Tool{}, false
	}
	spec, ok := p.tools[name]
	switch {
	case !ok:
		p.faultOf(check.References, path, expr.Nearest(name, sortedKeys(p.tools)), "there is no tool %q", name)
	case p.restricted && !slices.ContainsFunc(p.allowed, func(pattern string) bool { return matches(pattern, name) }):
		p.faultOf(check.References, path, "add it to the document's tools", "the tool %q is not among the tools this graph may call", name)
	case spec.Privileged && !p.lim.Privileged:
		p.faultOf(check.References, path, "an artifact owned by an admin may call it", "the tool %q is privileged", name)
	}
	return spec, ok
}

// matches compares a tool's name with a name or prefix.*.
func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// set reads the values a set node gives to vars.
func (p *parser) set(n *node, f fields) {
	values, _ := f.m["values"].(map[string]any)
	if len(values) == 0 {
		p.fault(f.path+"/values", "write {\"name\": value}", "a set needs values")
	}
	for _, key := range []string{"inputs", "outputs", "on_error"} {
		if f.m[key] != nil {
			p.fault(f.path+"/"+key, "leave it out", "a set has no %s: it only gives values to vars", key)
		}
	}
	n.values = f.object("values")
	n.outputs = sortedKeys(values)
	p.vars = append(p.vars, n.outputs...)
}

func (p *parser) branches(n *node, f fields, conditional bool) {
	l, ok := f.m["branches"].([]any)
	switch {
	case !ok || len(l) == 0:
		p.fault(f.path+"/branches", "", "a %s needs branches", n.kind)
		return
	case n.kind == Parallel && len(l) > p.lim.MaxBranches:
		p.faultOf(check.Limits, f.path+"/branches", "use a map over a list", "a parallel has %d branches, the limit is %d", len(l), p.lim.MaxBranches)
		return
	}
	n.branches = make([]branch, len(l))
	for i, v := range l {
		path := f.path + "/branches/" + strconv.Itoa(i)
		m, ok := v.(map[string]any)
		if !ok {
			p.fault(path, "", "the branch is not an object but %s", typeName(v))
			continue
		}
		b := fields{p, path, m}
		if n.branches[i].next = b.node("next"); m["next"] == nil {
			p.fault(path+"/next", "", "the branch has no next")
		}
		if _, ok := m["when"]; ok || conditional {
			b.condition("when", func(c *expr.Program) { n.branches[i].when = c })
		}
	}
}

func (p *parser) mapNode(n *node, f fields) {
	n.over = f.template("over")
	if n.over.kind == absent || n.over.kind == text || n.over.kind == object {
		p.fault(f.path+"/over", "write \"${vars.docs}\"", "a map needs over: one reference to a list, or a list")
	}
	if n.as = f.optional("as"); n.as == "" {
		n.as = "item"
	}
	if slices.Contains([]string{"input", "vars", "conversation", "user", "index"}, n.as) {
		p.fault(f.path+"/as", "choose another name, such as item", "as is %q, which has a meaning of its own", n.as)
	}
	p.items = append(p.items, n.as, "index")
	if n.body = f.node("body"); f.m["body"] == nil {
		p.fault(f.path+"/body", "", "a map needs body, the first node for each item")
	}
	n.concurrency = f.integer("concurrency", 4, 1, p.lim.MaxBranches)
	p.sets(n, n.id)
}

func (p *parser) interrupt(n *node, f fields) {
	a := &n.talk
	if a.kind = f.text("interrupt_type"); a.kind != "" && !slices.Contains(askTypes, a.kind) {
		p.fault(f.path+"/interrupt_type", "one of "+strings.Join(askTypes, ", "), "there is no interrupt_type %q", a.kind)
	}
	if a.message = f.template("message"); a.message.kind == absent {
		p.fault(f.path+"/message", "", "an interrupt needs a message for the person")
	}
	p.spoken(f.path+"/message", f.m["message"])
	a.options = f.template("options")
	if a.kind == "text_input" && f.m["options"] != nil {
		p.fault(f.path+"/options", "", "a text_input has no options")
	}
	if a.options.kind == constant {
		if _, fail := options(a.options.value, english); fail != nil {
			p.fault(f.path+"/options", "", "%s", fail.Message)
		}
	}
	if schema, ok := f.m["answer_schema"]; ok {
		if _, ok := schema.(map[string]any); !ok {
			p.fault(f.path+"/answer_schema", "", "answer_schema is not an object but %s", typeName(schema))
		}
		a.schema, _ = json.Marshal(schema)
	}
	if a.saveAs = f.optional("save_as"); a.saveAs == "" {
		a.saveAs = n.id
	}
	p.vars = append(p.vars, a.saveAs)
	a.onCancel = f.node("on_cancel")
	const month = 30 * 24 * 3600 * 1000
	n.timeout = within(f.millis("timeout_ms", 0, 1000, month))
}

// spoken checks a text by language; any other text is checked elsewhere.
func (p *parser) spoken(path string, v any) {
	if _, isObject := v.(map[string]any); !isObject {
		return
	}
	if _, ok := byLanguage(v); !ok {
		p.fault(path, `write {"en": "Which?", "de": "Welche?"}; a language left out reads the English`, "an object is not a text by language: it has texts only, each under the code of its language, and the English among them")
	}
}

func (p *parser) agent(n *node, f fields) {
	a := &n.talk
	a.model, a.system = f.template("model"), f.template("system")
	given, _ := f.m["inputs"].(map[string]any)
	if _, ok := given["message"]; !ok {
		a.message = compile("${input.message}", "", nil)
	}
	for i, pattern := range f.strings("tools") {
		if pattern == CallerTools {
			a.caller = p.callersAllowed(f.path + "/tools/" + strconv.Itoa(i))
			continue
		}
		a.tools = append(a.tools, p.agentTools(pattern, f.path+"/tools/"+strconv.Itoa(i))...)
	}
	a.unasked = p.unasked(f, a.tools)
	for i, pattern := range f.strings("confirm") {
		path := f.path + "/confirm/" + strconv.Itoa(i)
		asked := slices.DeleteFunc(slices.Clone(a.tools), func(name string) bool { return !matches(pattern, name) })
		if len(asked) == 0 {
			p.faultOf(check.References, path, expr.Nearest(pattern, a.tools), "no tool of this agent matches %q", pattern)
		}
		a.confirm = append(a.confirm, asked...)
	}
	a.maxRounds = f.integer("max_rounds", min(5, p.lim.MaxRounds), 1, p.lim.MaxRounds)
	if f.m["ground"] != nil {
		a.grounded = p.grounding(f)
	}
	if a.saveAs = f.optional("save_as"); a.saveAs == "" {
		a.saveAs = n.id
	}
	p.vars = append(p.vars, a.saveAs)
}

// unasked reads which of an agent's tools are called without asking a person first,
// whatever they say themselves: an administrator's to decide (TOOL-16).
func (p *parser) unasked(f fields, tools []string) (names []string) {
	for i, pattern := range f.strings("unasked") {
		found := slices.DeleteFunc(slices.Clone(tools), func(name string) bool { return !matches(pattern, name) })
		if len(found) == 0 {
			p.faultOf(check.References, f.at("unasked")+"/"+strconv.Itoa(i), expr.Nearest(pattern, tools), "no tool of this agent matches %q", pattern)
		}
		names = append(names, found...)
	}
	if len(names) > 0 && !p.lim.Privileged {
		p.fault(f.at("unasked"), "leave it out, or have an administrator own the artifact", "only an artifact of an administrator has tools called that ask first, without asking")
	}
	return names
}

// The members of ground that are of a closed set, and what each is without a
// word.
var (
	groundChecks = []string{"ids", "dates", "numbers", "refs", "model"}
	groundCites  = []string{"sentence", "markers"}
	groundElse   = []string{"drop"}
)

// maxRepairs bounds how often a model is asked again.
const maxRepairs = 3

// grounding reads how what an agent's model says is held to results.
func (p *parser) grounding(f fields) *grounding {
	m, ok := f.m["ground"].(map[string]any)
	if !ok {
		p.fault(f.at("ground"), `write {} to have everything checked`, "ground is not an object but %s", typeName(f.m["ground"]))
		return nil
	}
	in := fields{p, f.at("ground"), m}
	known := []string{"checks", "cite", "repairs", "else", "markers", "trailer"}
	for _, key := range sortedKeys(m) {
		if !slices.Contains(known, key) {
			p.fault(in.at(key), expr.Nearest(key, known), "ground has no member %q", key)
		}
	}
	checks := groundChecks
	if m["checks"] != nil {
		checks = in.strings("checks")
	}
	for i, check := range checks {
		if !slices.Contains(groundChecks, check) {
			p.fault(in.at("checks")+"/"+strconv.Itoa(i), expr.Nearest(check, groundChecks), "there is no check %q; they are %s", check, strings.Join(groundChecks, ", "))
		}
	}
	rules := map[string]any{"checks": names(checks), "cite": in.oneOf("cite", groundCites), "else": in.oneOf("else", groundElse)}
	g := &grounding{rules: rules, repairs: in.integer("repairs", 1, 0, maxRepairs)}
	markers := map[string]any{}
	if given, ok := m["markers"].(map[string]any); ok {
		for _, word := range sortedKeys(given) {
			entity, isText := given[word].(string)
			if !isText || entity == "" || !markerWord(word) {
				p.fault(in.at("markers")+"/"+pointer(word), `write {"frist": "deadline"}`, "a marker is a word in lower case and stands for the name of an entity")
				continue
			}
			markers[word] = entity
		}
	} else if m["markers"] != nil {
		p.fault(in.at("markers"), "", "markers is not an object but %s", typeName(m["markers"]))
	}
	rules["markers"] = markers
	if trailer := in.optional("trailer"); trailer != "" {
		if !validID(trailer) {
			p.fault(in.at("trailer"), "use up to 64 letters, digits, _ . -", "the trailer %q has characters that are not allowed", trailer)
		}
		rules["trailer"] = trailer
	}
	return g
}

// markerWord reports whether a word may stand in a marker.
func markerWord(word string) bool {
	for _, c := range []byte(word) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return word != "" && len(word) <= 64
}

// agentTools gives the tools a pattern stands for, in the order of their names.
func (p *parser) agentTools(pattern, path string) []string {
	if !strings.HasSuffix(pattern, "*") {
		p.tool(pattern, path)
		return []string{pattern}
	}
	var found []string
	for _, name := range sortedKeys(p.tools) {
		usable := !p.tools[name].Privileged || p.lim.Privileged
		allowed := !p.restricted || slices.ContainsFunc(p.allowed, func(x string) bool { return matches(x, name) })
		if matches(pattern, name) && usable && allowed {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		p.faultOf(check.References, path, "", "no tool this graph may call matches %q", pattern)
	}
	return found
}
