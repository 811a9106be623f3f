package adaptation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"liminal/activities"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/model"
	"liminal/internal/run"
)

// telling is a model that says how it was asked.
type telling struct{}

func (telling) Name() string     { return "telling" }
func (telling) Generative() bool { return true }

func (telling) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		text := "without"
		if len(req.Adapters) > 0 {
			text = "with " + req.Adapters[0].Instructions
		}
		if yield(model.Event{Type: model.TextDelta, Text: text}, nil) {
			yield(model.Event{Type: model.Stop, Reason: model.EndTurn}, nil)
		}
	}
}

// compares begins a run that answers a question of v's with an adapter and
// without.
func (h *house) compares(v identity.Viewer, adapterID, question string) learning.Comparison {
	h.Helper()
	input, err := json.Marshal(activities.GraphInput{Artifact: "adapter.compare", Input: map[string]any{"adapter_id": adapterID, "message": question}})
	h.must(err)
	r := run.Run{ID: id.New(), WorkflowID: "graph:" + id.New(), Kind: run.KindGraph, UserID: v.UserID, Status: run.Running, Input: input}
	h.must(h.store.CreateRun(h.Context(), v, r))
	h.begin(v, r)
	return learning.Comparison{RunID: r.ID, AdapterID: adapterID, Question: question}
}

// answers lets v answer the question that a run waits with.
func (h *house) answers(v identity.Viewer, runID, answer string) run.Status {
	h.Helper()
	open, err := h.store.PendingInterrupts(h.Context(), v, "")
	h.must(err)
	if len(open) != 1 || open[0].RunID != runID {
		h.Fatalf("the open questions are %+v", open)
	}
	g := h.waits[runID]
	h.pump(g, g.run.Done(g.asked[open[0].ID], map[string]any{"answer": answer}, h.clock()))
	return h.end(g)
}

func TestAChoiceBetweenTwoAnswersIsFeedbackOnBoth(t *testing.T) {
	t.Parallel()
	onBoth(t, options{model: telling{}}, comparing)
}

func comparing(t *testing.T, o options) {
	h := newHouse(t, o)
	h.complains(h.ann, 3)
	h.learn(h.ann)
	persona := h.adapter(h.ann, "learnt.persona")
	if persona == nil {
		t.Fatal("nothing was learnt")
	}
	h.die = func(tool string) bool { return tool != "" } // each step is done twice
	for i := range 8 {
		c := h.compares(h.ann, persona.ID, fmt.Sprint("Why is it ", i, "?"))
		texts := map[string]string{}
		for _, which := range []string{learning.First, learning.Second} {
			m, err := h.store.Message(t.Context(), h.ann, c.AnswerID(which))
			h.must(err)
			texts[which] = m.Content
			if which == c.With() {
				if raw, _ := json.Marshal(m.Meta["adapters"]); string(raw) != `["`+persona.ID+`"]` || m.Meta["lessons"] == nil {
					t.Errorf("the answer with it says %v", m.Meta)
				}
			} else if m.Meta["adapters"] != nil {
				t.Errorf("the answer without it says %v", m.Meta)
			}
		}
		if texts[c.With()] == "without" || texts[learning.Other(c.With())] != "without" {
			t.Fatalf("with it it is the %s: %v", c.With(), texts)
		}
		choice := []string{learning.First, learning.Second, "neither"}[i%3]
		if status := h.answers(h.ann, c.RunID, choice); status != run.Done {
			t.Fatalf("the run ended %s", status)
		}
		said, err := h.store.LatestPreferences(t.Context(), h.ann, c.AnswerID(learning.First), c.AnswerID(learning.Second))
		h.must(err)
		if choice == "neither" {
			if len(said) != 0 {
				t.Errorf("of neither stands %v", said)
			}
			continue
		}
		better, worse := said[c.AnswerID(choice)], said[c.AnswerID(learning.Other(choice))]
		if better.Signal != "like" || worse.Signal != "dislike" || better.ContextText != c.Question {
			t.Errorf("of the better stands %q, of the other %q, about %q", better.Signal, worse.Signal, better.ContextText)
		}
		page, _, err := h.store.ListMessages(t.Context(), h.ann, c.ConversationID(), "", 0)
		h.must(err)
		if len(page) != 2 || page[0].Role != "user" || page[1].ID != c.AnswerID(learning.Second) {
			t.Errorf("its conversation shows %+v", page)
		}
	}
	withFirst := 0
	for range 200 { // eight are all of one kind too often
		if (learning.Comparison{RunID: id.New(), AdapterID: persona.ID}).With() == learning.First {
			withFirst++
		}
	}
	if withFirst == 0 || withFirst == 200 {
		t.Errorf("%d of 200 times the first is with it", withFirst)
	}
	cases, err := h.store.Cases(t.Context(), h.ann, 100)
	h.must(err)
	if len(cases) != 3+12 {
		t.Errorf("%d events are learnt from", len(cases))
	}
	if _, _, err := h.steps.Compared(t.Context(), h.bob, learning.Comparison{RunID: "r", AdapterID: persona.ID}, learning.First, "en"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("another person's is compared: %v", err)
	}
}
