package graph

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/check"
)

// A program that begins a run may bring tools of its own, for graphs with an agent
// that takes them. The machine never calls one: a call is a question that the program
// answers with what came of it, days later too. The input caller_tools lists them as
// {name, description, parameters}. To models and the machine their names begin with
// callerPrefix, so that none can stand in the place of a tool of the graph.
const (
	// CallerTools stands in an agent's tools for those that the run's caller brings.
	CallerTools = callerPrefix + "*"
	// AskClientCall is Ask.Type of calls that the caller makes. The answer is an
	// object with a member for each of x-calls in the answer_schema:
	// {content, is_error}.
	AskClientCall = "client_call"

	callerPrefix = "caller."
	// CallerInput is the member of the input that has the caller's tools.
	CallerInput = "caller_tools"
	// maxCallerRounds bounds the rounds in which a model calls nothing but the
	// caller's tools; the caller, which may stop after each, has the say until then.
	maxCallerRounds = 64
)

// CallerTool is the name that models and the machine have for a caller's tool.
func CallerTool(name string) string { return callerPrefix + name }

// CallersOwn is the name that its caller gave to a tool; false: it is none of theirs.
func CallersOwn(name string) (string, bool) { return strings.CutPrefix(name, callerPrefix) }

// callersAllowed reports whether the document lets an agent take the caller's tools.
func (p *parser) callersAllowed(path string) bool {
	allowed := !p.restricted || slices.ContainsFunc(p.allowed, func(x string) bool { return matches(x, CallerTools) })
	if !allowed {
		p.faultOf(check.References, path, "add it to the document's tools", "the caller's tools are not among the tools this graph may call")
	}
	return allowed
}

// brought are the tools that an agent's model is offered of the caller's.
func (r *Run) brought(n *node) []any {
	if !n.talk.caller {
		return nil
	}
	list, _ := r.state.Input[CallerInput].([]any)
	return list
}

// brings reports whether a name is that of a tool the caller brought.
func (r *Run) brings(n *node, name string) bool {
	own, ok := CallersOwn(name)
	return ok && slices.ContainsFunc(r.brought(n), func(v any) bool {
		t, _ := v.(map[string]any)
		return t["name"] == own
	})
}

// callBack puts a round's calls of the caller's tools as one question.
func (r *Run) callBack(t *thread) {
	first, all := -1, true
	var calls []any
	var told []string
	properties, needed := map[string]any{}, []any{}
	for k, s := range t.Slots {
		if !s.Caller {
			all = false
			continue
		}
		if first < 0 {
			first = k
		}
		s.Phase = asking
		name, _ := CallersOwn(s.Tool)
		place := strconv.Itoa(k + 1)
		calls = append(calls, map[string]any{"id": place, "name": name, "arguments": nonNil(s.Inputs)})
		told = append(told, name+" "+clipped(rendered(nonNil(s.Inputs))))
		needed = append(needed, place)
		properties[place] = map[string]any{
			"type": "object", "title": name, "required": []any{"content"}, "additionalProperties": false,
			"properties": map[string]any{"content": map[string]any{"type": "string"}, "is_error": map[string]any{"type": "boolean"}},
		}
	}
	if first < 0 {
		return
	}
	if all {
		t.Agent.Called = min(t.Agent.Called+1, maxCallerRounds)
	}
	schema, _ := json.Marshal(map[string]any{ // plain values: it cannot fail
		"type": "object", "additionalProperties": false, "properties": properties, "required": needed, "x-calls": calls,
	})
	r.ask(t, first, t.Slots[first].ID+".c", asking, Ask{
		Type: AskClientCall, Message: validText(r.phrases().callBack + "\n" + strings.Join(told, "\n")), AnswerSchema: schema,
	})
}

// calledBack takes what came of a round's calls of the caller's tools. A cancel ends
// the agent: there is nobody left to go on for.
func (r *Run) calledBack(t *thread, first int, answer any, result Result) {
	if result == ResultCancelled {
		r.stopAgent(t)
		return
	}
	given, _ := answer.(map[string]any)
	for k, s := range t.Slots {
		if !s.Caller || s.Phase != asking {
			continue
		}
		s.Phase = settled
		one, ok := given[strconv.Itoa(k+1)].(map[string]any)
		text, _ := one["content"].(string)
		switch {
		case !ok:
			s.Failure = failuref(CodeTimeout, "the program did not say what came of this call")
		case one["is_error"] == true:
			s.Failure = &Failure{Code: "failed", Message: validText(text)}
		default:
			s.Output = map[string]any{"text": validText(text)}
		}
		r.grow(len(text))
	}
	r.settled(t, first)
}
