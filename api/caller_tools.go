package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// The tools that a program brings with a request. A workflow with an agent that takes
// them offers them to its model; a call pauses the run, and the program answers with
// what came of it, in a request of its own, days later too. What it says is a
// stranger's word to the model.

// The bounds of what a request brings.
const (
	maxCallerTools = 128
	maxCallerBytes = 128 << 10 // of all of them, as JSON
	maxCallerDepth = 32        // levels of lists and objects in one's parameters
)

var callerName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// broughtTool is a tool of a request, as its protocol says it.
type broughtTool struct {
	Name, Description string
	Parameters        any // a JSON Schema of an object; nil: it takes none
}

// brought are the tools of a request as an input of its run. The error names the
// field that is wrong.
func brought(tools []broughtTool) ([]any, error) {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With([]Problem{{"tools", "cannot be offered"}})
	}
	if len(tools) > maxCallerTools {
		return nil, refuse("A request brings at most %d tools; these are %d.", maxCallerTools, len(tools))
	}
	out := make([]any, 0, len(tools))
	seen := map[string]bool{}
	for i, t := range tools {
		object, isObject := t.Parameters.(map[string]any)
		switch {
		case !callerName.MatchString(t.Name):
			return nil, refuse("Tool %d has the name %q; a name has up to 64 letters, digits, _ and -.", i+1, clippedName(t.Name))
		case seen[t.Name]:
			return nil, refuse("Two tools are named %s.", t.Name)
		case t.Parameters != nil && !isObject, isObject && object["type"] != nil && object["type"] != "object":
			return nil, refuse("The parameters of %s are no JSON Schema of an object.", t.Name)
		case depth(t.Parameters) > maxCallerDepth:
			return nil, refuse("The parameters of %s nest more than %d levels deep.", t.Name, maxCallerDepth)
		}
		seen[t.Name] = true
		one := map[string]any{"name": t.Name, "description": t.Description}
		if isObject {
			one["parameters"] = object
		}
		out = append(out, one)
	}
	raw, err := json.Marshal(out)
	if err == nil && len(raw) > maxCallerBytes {
		err = refuse("The tools have %d bytes; the limit is %d.", len(raw), maxCallerBytes)
	}
	return out, err
}

func clippedName(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), 80)], "")
}

// takesTools reports whether a workflow offers its model what the caller brings. The
// automatic one is then the one of that kind: its own artifact comes back.
func (s *server) takesTools(ctx context.Context, of artifacts.Artifact) (artifacts.Artifact, bool) {
	takes := func(a artifacts.Artifact) bool { return bytes.Contains(a.Schema, []byte(`"`+graph.CallerTools+`"`)) }
	if of.ID != "" {
		return of, takes(of)
	}
	a, err := s.Artifacts.Workflow(ctx, viewerOf(ctx), artifacts.DefaultWorkflow)
	if err != nil || !takes(a) {
		return of, false
	}
	return a, true
}

// bring offers a request's tools to the workflow, where it takes them; the automatic
// one is then the one that does.
func (s *server) bring(ctx context.Context, k *kept, of artifacts.Artifact, tools []broughtTool) (artifacts.Artifact, error) {
	list, err := brought(tools)
	if err != nil || len(list) == 0 {
		return of, err
	}
	taking, takes := s.takesTools(ctx, of)
	if takes {
		k.tools = list
	}
	return taking, nil
}

// clientCall is a call that the program makes which began the run.
type clientCall struct {
	ID        string // as the program has it
	Place     string // as the answer has it
	Name      string
	Arguments string // JSON
}

// clientCalls are the calls that a question is; none of another question.
func clientCalls(q run.Interrupt) (calls []clientCall) {
	if q.Type != graph.AskClientCall {
		return nil
	}
	var asked struct {
		Calls []struct {
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"x-calls"`
	}
	_ = json.Unmarshal(q.AnswerSchema, &asked) // the machine's own
	for _, c := range asked.Calls {
		calls = append(calls, clientCall{ID: callID(q.ID, c.ID), Place: c.ID, Name: c.Name, Arguments: string(c.Arguments)})
	}
	return calls
}

// callID is the id that a program has of a call: it names the question, so that no
// state is kept to find it by.
func callID(interruptID, place string) string {
	return "call_" + strings.ReplaceAll(interruptID, "-", "") + "_" + place
}

// callOf is the question and the place of a call by its id.
func callOf(call string) (interruptID, place string, ok bool) {
	hex, place, cut := strings.Cut(strings.TrimPrefix(call, "call_"), "_")
	if !cut || len(hex) != 32 || !strings.HasPrefix(call, "call_") {
		return "", "", false
	}
	interruptID = strings.Join([]string{hex[:8], hex[8:12], hex[12:16], hex[16:20], hex[20:]}, "-")
	return id.Canonical(interruptID), place, id.Valid(interruptID)
}

// callResult is what a program says came of a call.
type callResult struct {
	ID, Content string
	Failed      bool
}

// answerCalls answers the question that calls of a program's are, with what came of
// all of them. The same answer once more is the same answer: whose connection broke
// is told what comes after it again.
func (s *server) answerCalls(ctx context.Context, results []callResult) (begunSession, error) {
	v := viewerOf(ctx)
	refuse := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With([]Problem{{"messages", "does not answer what waits"}})
	}
	given, question := map[string]any{}, ""
	for _, r := range results {
		of, place, ok := callOf(r.ID)
		if !ok || question != "" && of != question {
			return begunSession{}, refuse("There is no call %q among those of the last answer.", clippedName(r.ID))
		}
		question = of
		one := map[string]any{"content": r.Content}
		if r.Failed {
			one["is_error"] = true
		}
		given[place] = one
	}
	q, err := s.Interrupts.Interrupt(ctx, v, question)
	if errors.Is(err, fault.NotFound) || err == nil && q.Type != graph.AskClientCall {
		return begunSession{}, refuse("No call with the id %q waits.", clippedName(results[0].ID))
	}
	if err != nil {
		return begunSession{}, err
	}
	for _, c := range clientCalls(q) {
		if given[c.Place] == nil {
			return begunSession{}, refuse("The call %s of %s has no result; all calls of an answer are answered together.", c.ID, c.Name)
		}
	}
	begun := begunSession{SessionID: q.ConversationID, RunID: q.RunID, After: s.lastSeq(ctx, q.RunID), Interrupt: q.ID}
	if q.Status == run.Pending {
		_, err = s.Engine.Answer(ctx, v, q.ID, run.Answer{Value: given})
		if !errors.Is(err, fault.Conflict) {
			return begun, err
		}
		if q, err = s.Interrupts.Interrupt(ctx, v, question); err != nil {
			return begun, err
		}
	}
	var before any
	if q.Status != run.Answered || json.Unmarshal(q.Answer, &before) != nil || !reflect.DeepEqual(before, any(given)) {
		return begun, fault.New(fault.Conflict, "These calls have been answered already, or skipped.").With(map[string]any{"reason": "answered", "run_id": q.RunID})
	}
	begun.After = s.resumedAt(ctx, v, q)
	return begun, nil
}

// lookback bounds the search for an event of a log that was written before.
const lookback = 2 * time.Second

// resumedAt is the event at which a run went on after a question; 0: the log no
// longer has it.
func (s *server) resumedAt(ctx context.Context, v identity.Viewer, q run.Interrupt) int64 {
	ctx, cancel := context.WithTimeout(ctx, lookback)
	defer cancel()
	for e, err := range s.Log.Follow(ctx, q.RunID, 0) {
		if err != nil {
			return 0
		}
		if e.Kind == stream.Resumed && slices.Contains(interruptIDs(e.Data), q.ID) {
			return e.Seq
		}
		if e.Kind == stream.MessageDone || e.Kind == stream.Error || e.Kind == stream.CancelAck {
			return 0
		}
	}
	return 0
}
