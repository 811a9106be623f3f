package workflows_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/workflows"
)

const (
	leaveID  = "11111111-1111-7111-8111-111111111111"
	travelID = "22222222-2222-7222-8222-222222222222"
)

// papers are the documents of the person.
type papers struct{}

func (papers) OwnDocuments(context.Context, identity.Viewer, int) ([]knowledge.Titled, error) {
	return []knowledge.Titled{{ID: leaveID, Title: "Leave policy"}, {ID: travelID, Title: "Travel policy"}}, nil
}

func (p papers) DocumentsByID(ctx context.Context, v identity.Viewer, ids []string) ([]knowledge.Titled, error) {
	all, err := p.OwnDocuments(ctx, v, 0)
	var out []knowledge.Titled
	for _, id := range ids {
		for _, d := range all {
			if d.ID == id {
				out = append(out, d)
			}
		}
	}
	return out, err
}

// assistant is a world with the pack's graph: its plain tools are the
// program's own, its model and retrieval are scripted.
func assistant(t *testing.T, decisions map[string]map[string]any) *activitiestest.World {
	t.Helper()
	doc, err := os.ReadFile("../artifacts/packs/documents/workflow.chat/assistant.json")
	if err != nil {
		t.Fatal(err)
	}
	specs, err := builtin.Specs()
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]tool.Tool{}
	for _, one := range builtin.Tools(builtin.Parts{Titles: papers{}}) {
		own[one.Name()] = one
	}
	w := activitiestest.New(string(doc))
	for _, s := range specs {
		if one := own[s.Name]; one != nil {
			w.Tool(s.Name, s, one.Run)
		}
	}
	used := map[string]any{"input_tokens": 10.0, "output_tokens": 1.0}
	return w.Tool("llm.generic_chat_v1", models, say("Hello.")).
		Tool("llm.structured_v1", models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			return map[string]any{"value": decisions[c.Inputs["role"].(string)], "valid": true, "usage": used}, nil
		}).
		Tool("rag.gather_v1", inline, func(context.Context, *tool.Call) (map[string]any, error) {
			return map[string]any{"passages": []any{}, "documents": []any{map[string]any{"id": "x", "title": "X"}}, "confidence": "high", "average_similarity": 0.9}, nil
		}).
		Tool("llm.compose_v1", models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			for _, piece := range []string{"Both ", "differ."} {
				c.Emit(stream.TokenData(piece))
			}
			return map[string]any{"answer": "Both differ.", "citations": []any{}, "confidence": "high", "found": true, "usage": used, "model": "m"}, nil
		})
}

// asks is what the model says of "Compare the policy".
func asks() map[string]map[string]any {
	return map[string]map[string]any{
		"intent": {"action": "compare", "confidence": "high", "multi_action_detected": false, "enable_web_search": false},
		"documents": {
			"resolved_uuids": []any{}, "unresolved_names": []any{}, "inference_confidence": "medium", "has_implicit_refs": true,
			"suggested_uuids": []any{leaveID, travelID}, "reasoning": "",
		},
	}
}

// told are the steps a reader of /api/chat is told in each stream, and how it
// ends: a step once, when it is done or the run pauses in it (C-17).
func told(w *activitiestest.World) []string {
	var streams, steps []string
	for _, e := range w.Events {
		var data struct {
			Node      string `json:"node"`
			Done      bool   `json:"done"`
			DocsFound []any  `json:"docs_found"`
		}
		_ = json.Unmarshal(e.Data, &data) // other events hold other things
		switch {
		case e.Kind == stream.Status && data.Done && !slices.Contains(steps, data.Node):
			if len(data.DocsFound) > 0 {
				data.Node += "+docs"
			}
			steps = append(steps, data.Node)
		case e.Kind == stream.Interrupt, e.Kind == stream.MessageDone:
			streams = append(streams, strings.Join(append(steps, string(e.Kind)), " "))
			steps = nil
		}
	}
	return streams
}

func toolEvents(w *activitiestest.World) (names []string) {
	for _, e := range w.Events {
		var data struct {
			Name string `json:"name"`
		}
		if e.Kind == stream.ToolCall && json.Unmarshal(e.Data, &data) == nil {
			names = append(names, data.Name)
		}
	}
	return names
}

// Requirements: INT-03, INT-05, INT-13, INT-14, INT-19, INT-22, INT-29, LG-02, LG-05, LG-24, LG-30, STREAM-17, STREAM-18, STREAM-21
func TestTheAssistantAsksTwiceAndAnswersOnce(t *testing.T) {
	t.Parallel()
	w := assistant(t, asks())
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		q, _ := w.Question(0)
		if q.Type != "doc_choice" || q.Message != "Which document would you like to compare against?" || len(q.Options) != 3 {
			t.Errorf("asked %+v", q)
		}
		b.answer(0, leaveID)
	}, time.Hour)
	b.env.RegisterDelayedCallback(func() {
		if q, _ := w.Question(1); q.Type != "text_input" || len(q.Options) != 0 {
			t.Errorf("asked %+v", q)
		}
		b.answer(1, "@Travel policy")
	}, 49*time.Hour)
	b.turn(w.Chat("Compare the policy", chat.TurnInput{Fields: map[string]any{"action": nil, "tagged_doc_ids": []any{}}}))
	b.answered("Both differ.")

	want := []string{
		"intent_resolver doc_resolver interrupt",
		"doc_resolver+docs validate_inputs interrupt",
		"validate_inputs compare format_response message_done",
	}
	if got := told(w); !slices.Equal(got, want) {
		t.Errorf("the streams are\n%s", strings.Join(got, "\n"))
	}
	for node, n := range map[string]int{"intent": 1, "references": 1, "compare_write": 1, "compare_gather": 1} {
		if w.Count(node) != n {
			t.Errorf("%s ran %d times, want %d", node, w.Count(node), n)
		}
	}
	closed := b.closed()
	if closed.Message.TokensIn != 30 || closed.Message.TokensOut != 3 || closed.Message.Meta["model"] != "m" {
		t.Errorf("it counts %d and %d tokens of %v", closed.Message.TokensIn, closed.Message.TokensOut, closed.Message.Meta["model"])
	}
	kept, _ := closed.Persist["conversation_docs"].(map[string]any)
	if len(closed.Persist) != 1 || kept["Leave policy"] != leaveID || kept["Travel policy"] != travelID {
		t.Errorf("the next turn sees %v", closed.Persist)
	}
	if len(closed.Notices) != 4 || closed.Notices[1].Content != "Leave policy" || closed.Notices[3].Content != "@Travel policy" {
		t.Errorf("the notices are %+v", closed.Notices)
	}
	done := w.Event(stream.MessageDone)
	data, _ := done["data"].(map[string]any)
	if data["action"] != "compare" || data["inference_confidence"] != "high" || data["retrieval_confidence"] != "high" || len(data["resolved_doc_ids"].([]any)) != 2 {
		t.Errorf("message_done says %v", data)
	}
	if meta, _ := closed.Message.Meta["data"].(map[string]any); meta["action"] != "compare" {
		t.Errorf("the message keeps %v", closed.Message.Meta)
	}
	if names := toolEvents(w); !slices.Equal(names, []string{"rag.gather_v1"}) {
		t.Errorf("people are shown the tools %v", names)
	}
}

// Requirements: INT-09 (resumes with null; defaults; the run reaches its end), INT-10, INT-11, INT-28
func TestACancelledQuestionOfTheAssistantEndsTheTurnUnseen(t *testing.T) {
	t.Parallel()
	w := assistant(t, asks())
	w.Thread.Meta = map[string]any{"docs": map[string]any{"conversation_docs": map[string]any{"Leave policy": leaveID}}}
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() { b.env.SignalWorkflow(workflows.SignalCancel, nil) }, time.Hour)
	b.turn(w.Chat("Compare the policy", chat.TurnInput{}))
	closed := b.closed()
	if closed.End.Status != run.Done || closed.Message.Meta["suppressed"] != true || w.Count("compare_write") != 0 {
		t.Errorf("it ended %s with %+v", closed.End.Status, closed.Message)
	}
	if kept, _ := closed.Persist["conversation_docs"].(map[string]any); len(kept) != 1 || kept["Leave policy"] != leaveID {
		t.Errorf("the registry is %v", closed.Persist)
	}
	if q, _ := w.Question(0); q.Status != run.Skipped {
		t.Errorf("the question is %s", q.Status)
	}
}

// Requirements: INT-23, STREAM-20, STREAM-21, LG-06
func TestATaggedAuditWithoutATextAsksForItFirst(t *testing.T) {
	t.Parallel()
	w := assistant(t, nil)
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() { b.answer(0, "We never grant any leave to anybody.") }, time.Hour)
	b.turn(w.Chat("@Audit @Leave policy", chat.TurnInput{Fields: map[string]any{"action": "audit", "tagged_doc_ids": []any{leaveID}}}))
	b.answered("Both differ.")
	if got := told(w); !slices.Equal(got, []string{"doc_resolver+docs validate_inputs interrupt", "validate_inputs audit format_response message_done"}) {
		t.Errorf("the streams are\n%s", strings.Join(got, "\n"))
	}
	if w.Count("intent")+w.Count("references") != 0 {
		t.Error("a model was asked what everybody could see")
	}
}
