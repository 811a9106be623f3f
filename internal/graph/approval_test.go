package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"liminal/internal/graph"
)

// publishing is an agent with a tool whose call a person edits before it is made.
func publishing(t *testing.T, a *graph.Approval, node string) *graph.Graph {
	t.Helper()
	doc := `{"kind":"workflow.chat","entrypoint":"g","nodes":[{"id":"g","type":"agent","inputs":{"message":"hi"},"tools":["publish","echo"]` + node + `}]}`
	g, err := graph.Parse([]byte(doc), registry([]graph.Tool{
		{Name: graph.StepTool, Idempotent: true}, {Name: "echo", Idempotent: true},
		{Name: "publish", Confirm: a != nil, Approval: a, Required: []string{"text"}},
	}), graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func draft() *graph.Approval {
	return &graph.Approval{
		Message: map[string]any{"en": "Publish this in {place}?", "de": "Das in {place} veröffentlichen?"}, Remember: true, Key: "publish@1",
		Edit: []graph.Editable{{Name: "text", Schema: json.RawMessage(`{"type":"string","title":{"en":"Post","de":"Beitrag"},"minLength":1}`)}},
	}
}

// wants has the model ask for calls of publish, and gives the effects.
func wants(r *graph.Run, effects []graph.Effect, tool string, calls ...map[string]any) []graph.Effect {
	var list []any
	for i, arguments := range calls {
		list = append(list, map[string]any{"id": string(rune('a' + i)), "name": tool, "arguments": arguments})
	}
	return r.Done(effects[len(effects)-1].ID, map[string]any{"content": []any{}, "stop": "tool_use", "text": "", "tool_calls": list}, epoch)
}

type form struct {
	Properties map[string]struct {
		Title   string `json:"title"`
		Default any    `json:"default"`
		OneOf   []struct {
			Const, Title string
		} `json:"oneOf"`
	} `json:"properties"`
	Required []string `json:"required"`
	Then     struct {
		Required []string `json:"required"`
	} `json:"then"`
	Call struct {
		Tool string `json:"tool"`
	} `json:"x-call"`
}

func formOf(t *testing.T, e graph.Effect) form {
	t.Helper()
	var f form
	if e.Kind != graph.KindAsk || e.Ask.Type != "action_choice" || json.Unmarshal(e.Ask.AnswerSchema, &f) != nil {
		t.Fatalf("no form is asked: %+v", e)
	}
	return f
}

// The question shows the call as it would be made; what the person changes and
// approves is what is called, and the model hears what was changed.
//
// Requirements: GRND-49
func TestWhatIsApprovedIsWhatIsCalled(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ language, message, field, approve string }{
		{"en", "Publish this in the news?\n\nhidden: 7", "Post", "Approve"},
		{"de-AT", "Das in the news veröffentlichen?\n\nhidden: 7", "Beitrag", "Freigeben"},
	} {
		r, effects := publishing(t, draft(), "").Start(graph.Input{Now: epoch, Remembers: true, User: map[string]any{"locale": tc.language}})
		asked := wants(r, effects, "publish", map[string]any{"text": "first draft", "place": "the news", "hidden": 7.0})
		f := formOf(t, asked[0])
		if asked[0].Ask.Message != tc.message || f.Properties["text"].Title != tc.field || f.Properties["text"].Default != "first draft" ||
			f.Properties["decision"].OneOf[0].Title != tc.approve || f.Properties["remember"].Title == "" || f.Call.Tool != "publish" ||
			!slices.Equal(f.Required, []string{"decision"}) || !slices.Equal(f.Then.Required, []string{"decision", "text"}) {
			t.Errorf("%s: %q %+v", tc.language, asked[0].Ask.Message, f)
		}
		called := r.Done(asked[0].ID, map[string]any{"answer": map[string]any{"decision": "approve", "text": "as I want it", "place": "everywhere"}}, epoch)
		if c := called[0].Call; c == nil || c.Tool != "publish" || !c.Approved || c.Inputs["text"] != "as I want it" || c.Inputs["place"] != "the news" {
			t.Fatalf("called %+v", called)
		}
		next := r.Done(called[0].ID, map[string]any{"text": "Posted: 1"}, epoch)
		raw, _ := json.Marshal(next[0].Call.Inputs["transcript"])
		if !strings.Contains(string(raw), `Posted: 1\n(The person changed the call before it was made: {\"text\":\"as I want it\"})`) {
			t.Errorf("the model hears %s", raw)
		}
	}
}

// Anything that is no clear approval is none.
//
// Requirements: GRND-49
func TestWhatIsNotApprovedIsNotCalled(t *testing.T) {
	t.Parallel()
	for _, answer := range []any{
		nil, "yes", true, "approve", map[string]any{"decision": "decline"}, map[string]any{}, map[string]any{"id": "yes"}, map[string]any{"decision": true},
		map[string]any{"decision": "decline", "text": "other", "remember": true},
	} {
		r, effects := publishing(t, draft(), "").Start(graph.Input{Now: epoch, Remembers: true})
		asked := wants(r, effects, "publish", map[string]any{"text": "draft"})
		next := r.Done(asked[0].ID, map[string]any{"answer": answer}, epoch)
		if len(next) != 1 || next[0].Call == nil || next[0].Call.Tool != graph.StepTool {
			t.Fatalf("%v: %+v", answer, next)
		}
		if asked = wants(r, next, "publish", map[string]any{"text": "draft"}); asked[0].Kind != graph.KindAsk {
			t.Errorf("%v: not asked again: %+v", answer, asked)
		}
	}
}

// An approval that stands is of the conversation and of the version it was given
// for, and ends where nobody knows what the last call did.
//
// Requirements: GRND-49
func TestAnApprovalIsRememberedInTheConversationUntilInDoubt(t *testing.T) {
	t.Parallel()
	yes := map[string]any{"answer": map[string]any{"decision": "approve", "text": "draft", "remember": true}}
	one := map[string]any{"text": "draft"}
	r, effects := publishing(t, draft(), "").Start(graph.Input{Now: epoch, Remembers: true, Persisted: map[string]any{"mood": "good"}})
	called := r.Done(wants(r, effects, "publish", one)[0].ID, yes, epoch)
	kept := r.Persist()
	again := wants(r, r.Done(called[0].ID, map[string]any{}, epoch), "publish", one)
	if again[0].Kind != graph.KindCall || again[0].Call.Approved {
		t.Errorf("asked again in the same run: %+v", again[0])
	}
	r.Fail(again[0].ID, graph.Failure{Code: graph.CodeUncertain, Retryable: true}, epoch)
	if doubt := r.Persist(); len(doubt[graph.ApprovedVar].([]any)) != 0 {
		t.Errorf("after a doubt the conversation keeps %v", doubt)
	}
	next := func(persisted map[string]any, remembers bool, a *graph.Approval) graph.Effect {
		r, effects := publishing(t, a, "").Start(graph.Input{Now: epoch, Remembers: remembers, Persisted: persisted})
		return wants(r, effects, "publish", one)[0]
	}
	if e := next(kept, true, draft()); e.Kind != graph.KindCall {
		t.Errorf("asked again in the next turn: %+v", e)
	}
	newer, strict := draft(), draft()
	newer.Key, strict.Remember = "publish@2", false
	for what, e := range map[string]graph.Effect{
		"another version": next(kept, true, newer), "a tool that is not remembered": next(kept, true, strict),
		"a run whose vars are not kept": next(kept, false, draft()), "a conversation where nothing was said": next(nil, true, draft()),
	} {
		if e.Kind != graph.KindAsk {
			t.Errorf("%s is not asked: %+v", what, e)
		}
	}
	if f := formOf(t, next(nil, false, draft())); f.Properties["remember"].Title != "" {
		t.Error("it is offered to remember where nothing is kept")
	}
}

// A graph can write what its conversation keeps, and no approval.
//
// Requirements: GRND-49
func TestNoGraphApprovesForItsPerson(t *testing.T) {
	t.Parallel()
	doc := `{"kind":"workflow.chat","entrypoint":"s","persist":["$approved"],"nodes":[
		{"id":"s","type":"set","values":{"$approved":["publish@1"]},"next":"g"},
		{"id":"g","type":"agent","inputs":{"message":"hi"},"tools":["publish"]}]}`
	g, err := graph.Parse([]byte(doc), registry([]graph.Tool{{Name: graph.StepTool, Idempotent: true}, {Name: "publish", Confirm: true, Approval: draft()}}), graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	r, effects := g.Start(graph.Input{Now: epoch, Remembers: true})
	if asked := wants(r, effects, "publish", map[string]any{"text": "x"}); asked[0].Kind != graph.KindAsk {
		t.Errorf("called without a question: %+v", asked)
	}
	if kept := r.Persist(); len(kept) != 0 {
		t.Errorf("the conversation keeps %v", kept)
	}
}

// An agent's own list asks before tools that would not, and a question of several
// answers says that it may be the last.
func TestAnAgentAsksBeforeTheToolsItNames(t *testing.T) {
	t.Parallel()
	r, effects := publishing(t, nil, `,"confirm":["publish"]`).Start(graph.Input{Now: epoch, User: map[string]any{"locale": "de"}})
	asked := wants(r, effects, "publish", map[string]any{"text": "x"})
	if a := asked[0].Ask; a == nil || a.Message != `Ausführen: publish mit {"text":"x"}?` || len(a.Options) != 2 || a.Options[0].Label != "Ja" {
		t.Fatalf("%+v", asked[0])
	}
	if called := r.Done(asked[0].ID, map[string]any{"answer": "yes"}, epoch); called[0].Call == nil || !called[0].Call.Approved {
		t.Errorf("%+v", called)
	}
	a := draft()
	a.Edit = nil
	r, effects = publishing(t, a, "").Start(graph.Input{Now: epoch, Remembers: true})
	asked = wants(r, effects, "publish", map[string]any{"text": "x", "place": "here"})
	if q := asked[0].Ask; q.Message != "Publish this in here?\n\ntext: x" || len(q.Options) != 3 || q.Options[1].ID != "always" {
		t.Errorf("%+v", q)
	}
	r.Done(asked[0].ID, map[string]any{"answer": "always"}, epoch)
	if kept := r.Persist(); len(kept) != 1 {
		t.Errorf("the conversation keeps %v", kept)
	}
	_, err := graph.Parse([]byte(`{"kind":"workflow.chat","entrypoint":"g","nodes":[{"id":"g","type":"agent","tools":["echo"],"confirm":["publish"]}]}`),
		registry([]graph.Tool{{Name: graph.StepTool}, {Name: "echo"}, {Name: "publish"}}), graph.ChatLimits())
	if err == nil || !strings.Contains(err.Error(), `no tool of this agent matches "publish"`) {
		t.Errorf("%v", err)
	}
}
