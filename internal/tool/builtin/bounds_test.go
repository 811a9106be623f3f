package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// The surface of a turn says which model answers, and how long an answer may be,
// before its graph and the policies do.
//
// Requirements: GRND-23, GRND-26 (settings)
func TestATurnIsHeldToTheModelOfItsSurface(t *testing.T) {
	t.Parallel()
	m := says(text("ok"))
	choose := func(string) model.Choice { return model.Choice{Model: "of the role", MaxTokens: 10, Most: 3000} }
	ask := func(b *model.TurnBounds, final bool) model.Request {
		must(t, builtin.Parts{Model: m, History: memory{}, Catalog: fullCatalog(t)}, "llm.step_v1",
			&tool.Call{Final: final, Emit: (&log{}).emit, Choose: choose, Scope: tool.Scope{Bounds: b}, Inputs: inputs("message", "Q?", "max_tokens", 2000.0, "model", "of the graph")})
		return m.last
	}
	for _, c := range []struct {
		bounds *model.TurnBounds
		final  bool
		model  string
		most   int
	}{
		{nil, true, "of the graph", 2000},
		{&model.TurnBounds{Model: "of the surface"}, true, "of the surface", 2000},
		{&model.TurnBounds{OutputTokens: 500}, true, "of the graph", 500},
		{&model.TurnBounds{OutputTokens: 2500}, true, "of the graph", 2500},
		{&model.TurnBounds{OutputTokens: 2500}, false, "of the graph", 2000},
		{&model.TurnBounds{OutputTokens: 9000}, true, "of the graph", 3000}, // the plan's
	} {
		if got := ask(c.bounds, c.final); got.Model != c.model || got.MaxTokens != c.most {
			t.Errorf("%+v: %q and %d tokens", c.bounds, got.Model, got.MaxTokens)
		}
	}
}

// Requirements: GRND-26 (soft at 4000 tokens; refusal above 6000; sentence of the refusal; settings), GRND-29 (token_cap)
func TestATurnIsHeldToTheTokensOfItsSurface(t *testing.T) {
	t.Parallel()
	history := memory{}
	for i := range 20 {
		history = append(history, spoken(i+1, []string{"user", "assistant"}[i%2], sized(250)))
	}
	m := says(text("ok"))
	ask := func(message, system int) error {
		_, err := run(t, builtin.Parts{Model: m, History: history, Catalog: fullCatalog(t)}, "llm.step_v1", &tool.Call{
			Scope:  tool.Scope{ConversationID: "c", UptoSeq: 21, Bounds: &model.TurnBounds{InputTokens: 4000, RefuseTokens: 6000}},
			Inputs: inputs("message", sized(message), "system", sized(system)),
		})
		return err
	}
	for _, c := range []struct{ message, system, shown int }{{500, 500, 12}, {500, 501, 10}, {1000, 3000, 0}, {2000, 4000, 0}} {
		if err := ask(c.message, c.system); err != nil || len(m.last.Messages)-1 != c.shown || strings.Contains(m.last.System, "(truncated)") != (c.shown < 20) {
			t.Errorf("%+v: %d are shown, %v", c, len(m.last.Messages)-1, err)
		}
	}
	err := ask(2001, 4000)
	if known := fault.From(err); known.Code != fault.Invalid || known.Message != "Conversation too long, start a new one." || fault.Reason(err) != "token_cap" {
		t.Errorf("6001 tokens: %v", err)
	}
	if raw, _ := json.Marshal(fault.From(err).Details); string(raw) != `{"reason":"token_cap"}` {
		t.Errorf("%s", raw)
	}
}
