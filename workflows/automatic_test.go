package workflows_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/chat"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/workflows"
)

// automatic is a world with the graph for turns with documents, and the
// assistant beside it. The model says what the message wants done, and what the
// assistant asks it.
func automatic(t *testing.T, work string, decisions map[string]map[string]any) *activitiestest.World {
	t.Helper()
	w := assistant(t, decisions)
	w.Workflows[artifacts.AssistantWorkflow] = w.Workflows["default"]
	w.Workflows["default"] = string(artifactstest.Shipped(t, artifacts.DocumentsWorkflow))
	return w.Tool("llm.intent_classifier_v1", inline, func(context.Context, *tool.Call) (map[string]any, error) {
		return map[string]any{"intent": "analysis", "work": work, "confidence": 0.9}, nil
	}).
		Tool("rag.search_v1", inline, func(context.Context, *tool.Call) (map[string]any, error) {
			return map[string]any{"passages": []any{}, "confidence": "high", "clarity": "clear", "documents": []any{}, "options": []any{}, "unread": []any{}}, nil
		}).
		Tool("documents.await_v1", inline, say("")).
		Tool("rag.answer_with_context_v1", models, say("Quoted.")).
		Tool("agent.code_v1", models, say("Done."))
}

// named is what the model says of the documents of a message.
func named(confidence string, resolved ...any) map[string]map[string]any {
	return map[string]map[string]any{"documents": {
		"resolved_uuids": append([]any{}, resolved...), "unresolved_names": []any{}, "inference_confidence": confidence,
		"has_implicit_refs": false, "suggested_uuids": []any{}, "reasoning": "",
	}}
}

// Requirements: GRAPH-22, GRAPH-03, LG-02, LG-05
func TestWholeDocumentsAreTheAssistantsWork(t *testing.T) {
	t.Parallel()
	w := automatic(t, "compare", named("high", leaveID, travelID))
	b := setup(t, w)
	b.turn(w.Chat("How do the two policies differ?", chat.TurnInput{}))
	b.answered("Both differ.")
	closed := b.closed()
	kept, _ := closed.Persist["conversation_docs"].(map[string]any)
	if w.Count("compare_write") != 1 || w.Count("intent") != 0 || w.Count("search")+w.Count("answer") != 0 || len(kept) != 2 || kept["Travel policy"] != travelID {
		t.Errorf("%v; the next turn sees %v", w.Kinds(), closed.Persist)
	}
	data, _ := w.Event(stream.MessageDone)["data"].(map[string]any)
	if data["action"] != "compare" || len(data["resolved_doc_ids"].([]any)) != 2 {
		t.Errorf("message_done says %v", data)
	}
}

// Requirements: GRAPH-22
func TestWhoAsksWhichDocumentsThereAreIsTold(t *testing.T) {
	t.Parallel()
	w := automatic(t, "list", nil)
	b := setup(t, w)
	b.turn(w.Chat("What documents do I have?", chat.TurnInput{}))
	if text := b.closed().Message.Content; !strings.HasPrefix(text, "You have ") || w.Count("search")+w.Count("answer")+w.Count("code") != 0 {
		t.Errorf("it says %q; %v", text, w.Kinds())
	}
}

// Requirements: GRAPH-22
func TestWhatIsNoWorkOnWholeDocumentsIsSearchedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work      string
		decisions map[string]map[string]any
		spawned   bool
	}{
		"a question":                             {"answer", nil, false},
		"a classifier that says nothing of work": {"", nil, false},
		"two things and no documents":            {"compare", named("high"), true},
		"two things of one document":             {"compare", named("high", leaveID), true},
		"a topic and no document":                {"summarize", named("high"), true},
	} {
		w := automatic(t, c.work, c.decisions)
		b := setup(t, w)
		b.turn(w.Chat("What is the difference between gross and net?", chat.TurnInput{}))
		b.answered("Quoted.")
		if _, asked := w.Question(0); asked || w.Count("compare_write")+w.Count("summarize_write") != 0 || (w.Count("references") > 0) != c.spawned {
			t.Errorf("%s: asked %v, %v", name, asked, w.Kinds())
		}
	}
}

// Requirements: INT-03, INT-19, LG-29
func TestAutomaticAsksWhichDocumentAndTakesNoneForAnAnswer(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		travelID: "Both differ.",
		"none":   "You chose no document, so there is nothing to work on yet. These came into question:\n\n- **Leave policy**\n- **Travel policy**\n\nAsk again with the title of the one you mean, or with @ and its title.",
	} {
		decisions := named("medium")
		decisions["documents"]["suggested_uuids"] = []any{leaveID, travelID}
		w := automatic(t, "summarize", decisions)
		b := setup(t, w)
		b.env.RegisterDelayedCallback(func() {
			q, _ := w.Question(0)
			var ids []string
			for _, o := range q.Options {
				ids = append(ids, o.ID)
			}
			if q.Message != "Which document do you mean?" || !slices.Equal(ids, []string{leaveID, travelID, "all", "none"}) {
				t.Errorf("asked %+v", q)
			}
			if err := b.env.SignalWorkflowByID(q.WorkflowID, workflows.SignalAnswer, w.Claim(0, answer, false)); err != nil {
				t.Error(err)
			}
		}, time.Hour)
		b.turn(w.Chat("Summarize the policy", chat.TurnInput{}))
		b.answered(want)
		if closed := b.closed(); closed.Message.Meta["suppressed"] != nil {
			t.Errorf("%s: %+v", answer, closed.Message)
		}
	}
}

// A turn that is given up for the next one says nothing, whatever it asked.
//
// Requirements: INT-10, INT-33
func TestAutomaticThatIsCancelledIsNotShown(t *testing.T) {
	t.Parallel()
	decisions := named("medium")
	decisions["documents"]["suggested_uuids"] = []any{leaveID, travelID}
	w := automatic(t, "summarize", decisions)
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() { b.env.SignalWorkflow(workflows.SignalCancel, nil) }, time.Hour)
	b.turn(w.Chat("Summarize the policy", chat.TurnInput{}))
	if closed := b.closed(); closed.Message.Content != "" && closed.Message.Meta["suppressed"] != true || w.Count("summarize_write") != 0 {
		t.Errorf("%s: %+v", closed.End.Status, closed.Message)
	}
}

// Requirements: INT-21, LG-16
func TestAutomaticSaysThatThereIsNoDocumentOfAName(t *testing.T) {
	t.Parallel()
	decisions := named("low")
	decisions["documents"]["unresolved_names"] = []any{"Zorblatt policy"}
	w := automatic(t, "summarize", decisions)
	b := setup(t, w)
	b.turn(w.Chat("Summarize the Zorblatt policy", chat.TurnInput{}))
	if _, asked := w.Question(0); asked {
		t.Error("it asks for what is not there")
	}
	text := b.closed().Message.Content
	if !strings.HasPrefix(text, "There is no document called “Zorblatt policy”. The names that come closest are:\n\n- **Leave policy**\n- **Travel policy**") {
		t.Errorf("it says %q", text)
	}
}
