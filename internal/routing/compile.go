package routing

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"liminal/internal/check"
	"liminal/internal/expr"
)

// kind is the document this package reads.
const kind = "policy.routing"

// maxID bounds the id of a rule, in bytes.
const maxID = 64

// rule is one rule, ready to be followed.
type rule struct {
	id     string
	when   *expr.Program
	each   bool // evaluated for every candidate
	action action
	fault  string // why it is skipped; empty for a good rule
}

// Compile reads a policy.routing document. The error is Faults with all that
// is wrong. The policy can be used even then: a rule at fault is skipped and
// says so in the trace, because a stored policy that an older program accepted
// must not stop a turn (ROUTE-11).
func Compile(doc []byte) (*Policy, error) {
	p := &Policy{}
	if len(doc) > MaxDocument {
		return p, Faults{{Message: fmt.Sprintf("the document has %d bytes, the limit is %d", len(doc), MaxDocument), Kind: check.Limits}}
	}
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return p, Faults{{Message: "the document is not JSON: " + err.Error(), Kind: check.Schema}}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return p, Faults{{Message: "the document is not an object but " + typeName(v), Kind: check.Schema}}
	}
	r := &reader{}
	p.rules = r.document(object{r, "", m})
	if len(r.faults) > 0 {
		return p, r.faults
	}
	return p, nil
}

func (r *reader) document(o object) []rule {
	if k := o.m["kind"]; k != kind {
		r.fault("/kind", "write \""+kind+"\"", "the kind is %s", expr.Show(k))
	}
	list, ok := o.m["rules"].([]any)
	switch {
	case !ok:
		r.fault("/rules", "write a list of rules; an empty one uses no adapter", "rules is not a list but %s", typeName(o.m["rules"]))
	case len(list) > MaxRules:
		r.faultOf(check.Limits, "/rules", "", "the policy has %d rules, the limit is %d", len(list), MaxRules)
		list = list[:MaxRules]
	}
	rules := make([]rule, len(list))
	for i, v := range list {
		before := len(r.faults)
		rules[i] = r.rule(fmt.Sprintf("/rules/%d", i), v)
		first := slices.IndexFunc(rules[:i], func(x rule) bool { return x.id == rules[i].id })
		if first >= 0 {
			r.fault(fmt.Sprintf("/rules/%d/id", i), "", "the id %q is taken by rule %d", rules[i].id, first)
		}
		if len(r.faults) > before {
			rules[i].fault = short(r.faults[before].String())
		}
	}
	return rules
}

func (r *reader) rule(path string, v any) rule {
	m, ok := v.(map[string]any)
	if !ok {
		r.fault(path, "", "the rule is not an object but %s", typeName(v))
		return rule{id: path}
	}
	o := object{r, path, m}
	out := rule{id: o.needed("id")}
	if len(out.id) > maxID {
		r.faultOf(check.Limits, o.at("id"), "", "the id has %d bytes, the limit is %d", len(out.id), maxID)
	}
	if out.id == "" || len(out.id) > maxID {
		out.id = path // a name for the trace
	}
	out.when, out.each = r.condition(o)
	if a, ok := m["action"].(map[string]any); ok {
		out.action = r.action(object{r, path + "/action", a})
	} else {
		r.fault(path+"/action", "", "the action is not an object but %s", typeName(m["action"]))
	}
	out.each = out.each || out.action.adapter == current
	return out
}

// condition compiles a rule's when, and says whether it reads a name of the
// candidate: then it does not compile without those names.
func (r *reader) condition(o object) (when *expr.Program, each bool) {
	source := o.needed("when")
	if source == "" {
		return nil, false
	}
	when, err := expr.Compile(source, expr.Scope{Names: turnNames, Fields: fields})
	if err == nil {
		return when, false
	}
	when, err = expr.Compile(source, expr.Scope{Names: allNames, Fields: fields})
	if err == nil {
		return when, true
	}
	at := &expr.Error{}
	if !errors.As(err, &at) {
		at.Message = err.Error()
	}
	said := at.Message
	if _, err := expr.Compile(source, expr.Scope{}); err == nil {
		said = "the router has no value of this name" // expr's own words speak of graphs
	}
	r.faultOf(check.Expressions, o.at("when"), at.Hint, "the condition %s does not compile: character %d: %s", expr.Show(source), at.Offset+1, said)
	return nil, false
}
