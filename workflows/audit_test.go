package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/tool"
)

// A call that changes something is marked so, and as approved where the person
// approved this very call, in the audit and in the message; one that reads is not.
//
// Requirements: GRND-49
func TestACallThatChangesSomethingIsMarkedInTheAudit(t *testing.T) {
	t.Parallel()
	round := 0
	calls := func(list ...string) map[string]any {
		wanted := []any{}
		for i, name := range list {
			wanted = append(wanted, map[string]any{"id": fmt.Sprint("c", round, i), "name": name, "arguments": map[string]any{}})
		}
		return map[string]any{"text": "", "content": []any{}, "tool_calls": wanted}
	}
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"agent","tools":["look","note","create_deadline"],"stream":true,"save_as":"said","next":"end"},{"id":"end","type":"end","response":"${vars.said.text}"}]}`).
		Tool("llm.step_v1", models, func(context.Context, *tool.Call) (map[string]any, error) {
			switch round++; round {
			case 1:
				return calls("look", "note", "create_deadline"), nil
			case 2:
				return calls("create_deadline"), nil
			}
			return map[string]any{"text": "done", "content": []any{}, "tool_calls": []any{}, "stop": "end_turn"}, nil
		}).
		Tool("look", tool.Spec{Runs: tool.Activity, ReadOnly: true}, say("seen")).
		Tool("note", tool.Spec{Runs: tool.Activity}, say("noted")).
		Tool("create_deadline", tool.Spec{Runs: tool.Activity, Confirm: tool.Confirm{Asks: true}}, say("created"))
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() { b.answer(0, "yes") }, time.Hour)
	b.env.RegisterDelayedCallback(func() { b.answer(1, "no") }, 2*time.Hour)
	b.turn(w.Chat("Trag die Frist ein", chat.TurnInput{Surface: &chat.TurnSurface{Path: "desk", Audit: chat.AuditRedacted}}))
	b.answered("done")
	end := b.closed()
	if end.Audit == nil {
		t.Fatal("the turn has no audit")
	}
	want := []chat.AuditCall{{Name: "create_deadline", Status: "ok", Mutating: true, Approved: true}, {Name: "look", Status: "ok"}, {Name: "note", Status: "ok", Mutating: true}}
	if got := fmt.Sprint(marks(end.Audit.Calls)); got != fmt.Sprint(want) {
		t.Errorf("the audit has %s\nwant %v", got, want)
	}
	shown := map[string]map[string]string{}
	for _, s := range end.Message.Struct.Segments {
		if s.Type == chat.SegmentToolCall {
			meta := map[string]string{}
			if err := json.Unmarshal(s.Meta, &meta); err != nil {
				t.Error(err)
			}
			shown[s.Name] = meta
		}
	}
	for name, is := range map[string][2]string{"look": {"", ""}, "note": {"true", ""}, "create_deadline": {"true", "true"}} {
		if got := shown[name]; got == nil || got["mutating"] != is[0] || got["approved"] != is[1] {
			t.Errorf("the message tells of %s: %v", name, got)
		}
	}
}

// marks are calls without what differs from run to run: those of one round end in
// any order.
func marks(list []chat.AuditCall) (out []chat.AuditCall) {
	for _, c := range list {
		c.ArgsHash, c.LatencyMS = "", 0
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b chat.AuditCall) int { return strings.Compare(a.Name, b.Name) })
	return out
}
