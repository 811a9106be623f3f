package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// comingLater puts its answer off so many times, a minute each.
func comingLater(times int, last map[string]any) activitiestest.Func {
	return func(_ context.Context, c *tool.Call) (map[string]any, error) {
		resume, _ := c.Resume.(map[string]any)
		n, _ := resume["state"].(float64)
		if int(n) < times {
			return map[string]any{"later": map[string]any{"after_ms": 60_000.0, "state": n + 1}}, nil
		}
		return last, nil
	}
}

// Requirements: TOOL-14
func TestARunRestsUntilAToolHasItsAnswer(t *testing.T) {
	t.Parallel()
	const doc = `{"kind":"workflow.chat","entrypoint":"wait","nodes":[
		{"id":"wait","type":"tool_call","tool":"wait","outputs":["v"],"next":"end"},
		{"id":"end","type":"end","response":"${vars.v}"}]}`
	w := activitiestest.New(doc).Tool("wait", inline, comingLater(90, map[string]any{"v": "ready"}))
	b := setup(t, w)
	b.set.Record = true
	began := b.env.Now()
	b.chat("hello")
	b.answered("ready")
	if took := b.env.Now().Sub(began); took.Round(time.Second) != 90*time.Minute {
		t.Errorf("it took %s", took)
	}
	calls := 0
	for _, s := range b.closed().Message.Struct.Segments {
		if s.Type == chat.SegmentToolCall {
			calls++
		}
	}
	if calls != 1 {
		t.Errorf("the message tells of %d calls", calls)
	}
	head, rec := recordingOf(t, w)
	if p := rehearsed(t, w, doc, rec); head.MS > time.Minute.Milliseconds() || len(rec.Outputs) != 1 || p.Outcome.Response != "ready" || len(p.Divergences)+len(p.Unused) > 0 {
		t.Errorf("recorded as %+v, %+v; rehearsed: %+v", *head, rec.Outputs, p)
	}
	b = setup(t, activitiestest.New(doc).Tool("wait", inline, comingLater(90, nil)))
	b.env.RegisterDelayedCallback(func() { b.env.SignalWorkflow("cancel", nil) }, time.Hour)
	began = b.env.Now()
	b.chat("hello")
	if took := b.env.Now().Sub(began); b.closed().End.Status != run.Cancelled || took.Round(time.Second) != time.Hour {
		t.Errorf("a cancel ends the run %s after %s", b.closed().End.Status, took)
	}
}

// reading plays the graph for turns with documents: so many searches find a
// document unread, and the tool that waits for it is asked again as often.
func reading(t *testing.T, confidence string, unreadFor, waits int) *activitiestest.World {
	t.Helper()
	big := map[string]any{"id": "d", "title": "big.pdf", "status": "reading", "percent": 40.0}
	searches, looks := 0, 0
	answer := func(_ context.Context, c *tool.Call) (map[string]any, error) {
		list, _ := c.Inputs["passages"].([]any)
		unread, _ := c.Inputs["unread"].([]any)
		return map[string]any{"answer": fmt.Sprintf("%d passages, %d unread", len(list), len(unread)), "citations": []any{}}, nil
	}
	return activitiestest.New(string(artifactstest.Shipped(t, artifacts.DocumentsWorkflow))).
		Tool("llm.intent_classifier_v1", inline, func(context.Context, *tool.Call) (map[string]any, error) {
			return map[string]any{"intent": "qa_with_docs"}, nil
		}).
		Tool("rag.search_v1", inline, func(context.Context, *tool.Call) (map[string]any, error) {
			searches++
			out := map[string]any{"passages": []any{"p"}, "confidence": confidence, "clarity": "clear", "documents": []any{}, "options": []any{}, "unread": []any{}}
			if searches <= unreadFor {
				out["unread"] = []any{big}
			}
			return out, nil
		}).
		Tool("documents.await_v1", inline, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
			if looks++; looks <= waits && c.Inputs["within_ms"].(float64) > 3000 {
				return map[string]any{"later": map[string]any{"after_ms": 10_000.0}}, nil
			}
			out := map[string]any{"unread": []any{}, "coming": false, "question": "", "choices": []any{}}
			if c.Inputs["within_ms"].(float64) <= 3000 && waits > 0 {
				out = map[string]any{"unread": []any{big}, "coming": true, "question": "Still being read: big.pdf (40 %). Wait?",
					"choices": []any{map[string]any{"id": "wait", "label": "Wait"}, map[string]any{"id": "answer", "label": "Answer"}}}
			}
			return out, nil
		}).
		Tool("rag.answer_with_context_v1", inline, answer).Tool("documents.find_v1", inline, say("")).
		Tool("llm.generic_chat_v1", models, say("Hello.")).Tool("agent.code_v1", models, say("Done."))
}

// Requirements: INT-01, INT-05, PLAT-02 (interrupts and resumes)
func TestWhoAsksWhileADocumentIsBeingReadMayWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		confidence       string
		unreadFor, waits int
		choose           string
		want             string
		searches         int
	}{
		"nothing is being read":            {"low", 0, 0, "", "1 passages, 0 unread", 1},
		"it is read in a moment":           {"low", 1, 0, "", "1 passages, 0 unread", 2},
		"what is there answers":            {"high", 9, 9, "", "1 passages, 1 unread", 1},
		"they wait":                        {"low", 1, 60, "wait", "1 passages, 0 unread", 2},
		"they want what is there":          {"low", 9, 9, "answer", "1 passages, 1 unread", 1},
		"it is not so sure what is there":  {"medium", 1, 3, "wait", "1 passages, 0 unread", 2},
		"they wait longer than a run may ": {"low", 1, 170, "wait", "1 passages, 0 unread", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := reading(t, c.confidence, c.unreadFor, c.waits)
			b := setup(t, w)
			if c.choose != "" {
				b.env.RegisterDelayedCallback(func() {
					q, _ := w.Question(0)
					if q.Status != run.Pending || q.Type != "action_choice" || !strings.Contains(q.Message, "big.pdf (40 %)") || len(q.Options) != 2 {
						t.Errorf("the question is %+v", q)
					}
					b.answer(0, c.choose)
				}, 48*time.Hour)
			}
			b.chat("How long is the notice period?")
			b.answered(c.want)
			if n := w.Count("search") + w.Count("search_again"); n != c.searches {
				t.Errorf("%d searches, want %d", n, c.searches)
			}
			if _, asked := w.Question(0); asked != (c.choose != "") {
				t.Errorf("somebody was asked: %v; %v", asked, w.Kinds())
			}
		})
	}
}
