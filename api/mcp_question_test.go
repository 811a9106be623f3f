package api

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/run"
)

// answering is an elicitation that is answered alike each time.
func answering(action string, content map[string]any, seen *[]*mcp.ElicitParams) func(*mcp.ElicitParams) *mcp.ElicitResult {
	return func(p *mcp.ElicitParams) *mcp.ElicitResult {
		if seen != nil {
			*seen = append(*seen, p)
		}
		return &mcp.ElicitResult{Action: action, Content: content}
	}
}

// A question pauses the same durable run, whatever way its person is asked.
func TestAQuestionIsAskedThroughAnMCPClient(t *testing.T) {
	t.Parallel()
	for era, version := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.signUp("ada@example.org")
			ada.assistant("paliadin")
			asks := map[string]any{"message": "ask which"}
			var seen []*mcp.ElicitParams
			got := ada.connects(t, version, answering("accept", map[string]any{"answer": "two"}, &seen)).calls("ask_paliadin", asks)
			if got.Answer != `You chose "two"` || len(seen) != 1 || seen[0].Message != "which" || !strings.Contains(asJSON(seen[0].RequestedSchema), `{"const":"one","title":"One"}`) {
				t.Errorf("accepted: %+v after %+v", got, seen)
			}
			got = ada.connects(t, version, answering("decline", nil, nil)).calls("ask_paliadin", asks)
			if q := ada.questionOf(got.RunID); q.Status != run.Skipped || got.Status != "done" || got.text == "" {
				t.Errorf("declined: %+v, %+v", got, q)
			}
			got = ada.connects(t, version, answering("cancel", nil, nil)).calls("ask_paliadin", asks)
			if q := ada.questionOf(got.RunID); q.Status != run.Pending || got.Status != "waiting" || len(got.Questions) != 1 || got.Questions[0].ID != q.ID || !strings.Contains(got.text, "1. One") {
				t.Errorf("cancelled: %+v, %+v", got, q)
			}
			seen = nil
			got = ada.connects(t, version, answering("accept", map[string]any{"to": "Ulm", "nights": 2.0}, &seen)).calls("ask_paliadin", map[string]any{"message": "form"})
			if got.Answer != `You chose {"nights":2,"to":"Ulm"}` || len(seen) != 1 || strings.Contains(asJSON(seen[0].RequestedSchema), "who") {
				t.Errorf("a form: %+v after %+v", got, seen)
			}
			// Without forms the question is a text, and a tool answers it.
			plain := ada.connects(t, version, nil)
			got = plain.calls("ask_paliadin", asks)
			if got.Status != "waiting" || !strings.Contains(got.text, "2. Two") || !strings.Contains(got.text, got.Questions[0].ID) {
				t.Fatalf("without forms: %+v", got)
			}
			if wrong := plain.calls("answer", map[string]any{"interrupt_id": got.Questions[0].ID, "answer": "neither"}); !wrong.wrong {
				t.Errorf("what is no answer: %+v", wrong)
			}
			if done := plain.calls("answer", map[string]any{"interrupt_id": got.Questions[0].ID, "answer": "2"}); done.Answer != `You chose "two"` || done.RunID != got.RunID {
				t.Errorf("answered: %+v", done)
			}
			if again := plain.calls("answer", map[string]any{"interrupt_id": got.Questions[0].ID, "answer": "1"}); !again.wrong {
				t.Errorf("answered twice: %+v", again)
			}
			if stands := plain.calls("run", map[string]any{"run_id": got.RunID}); stands.Answer != `You chose "two"` {
				t.Errorf("its run: %+v", stands)
			}
		})
	}
}

func (p *person) questionOf(runID string) run.Interrupt {
	p.Helper()
	list, err := p.store.RunInterrupts(p.Context(), p.viewer(), runID)
	p.must(err)
	if len(list) != 1 {
		p.Fatalf("the run asked %d questions", len(list))
	}
	return list[0]
}

// Whoever answers first counts: the page, while a client shows the question.
func TestAQuestionAnsweredElsewhereCountsOnce(t *testing.T) {
	t.Parallel()
	for era, version := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.signUp("ada@example.org")
			ada.assistant("paliadin")
			got := ada.connects(t, version, func(*mcp.ElicitParams) *mcp.ElicitResult {
				open := items(ada.get("/v1/interrupts").ok())
				ada.post("/v1/chat/resume", map[string]any{"interrupt_id": open[0]["interrupt_id"], "resume_value": map[string]any{"value": "one"}}).ok()
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "two"}}
			}).calls("ask_paliadin", map[string]any{"message": "ask which"})
			if got.Answer != `You chose "one"` || got.Status != "done" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What a client holds between two calls is its person's, and of that call.
func TestTheStateOfACallIsNobodyElses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	ada.assistant("paliadin")
	bob.assistant("paliadin")
	byHand := func(o *mcp.ClientOptions) { o.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true} }
	no := answering("accept", nil, nil)
	mine, theirs := ada.connects(t, statelessSince, no, byHand), bob.connects(t, statelessSince, no, byHand)
	args := map[string]any{"message": "ask which"}
	asked, err := mine.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_paliadin", Arguments: args})
	if err != nil || !asked.NeedsInput() || len(asked.InputRequests) != 1 {
		t.Fatalf("%+v, %v", asked, err)
	}
	state, err := base64.RawURLEncoding.DecodeString(asked.RequestState)
	if err != nil || bytes.Contains(state, []byte("which")) {
		t.Fatalf("the client holds %q, %v", state, err)
	}
	state[15] ^= 1
	changed := base64.RawURLEncoding.EncodeToString(state)
	answers := mcp.InputResponseMap{}
	for id := range asked.InputRequests {
		answers[id] = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "two"}}
	}
	for what, c := range map[string]struct {
		by    *caller
		state string
	}{
		"another person": {theirs, asked.RequestState}, "one that was changed": {mine, changed}, "none": {mine, "x"},
	} {
		res, err := c.by.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_paliadin", Arguments: args, RequestState: c.state, InputResponses: answers})
		if err != nil || !res.IsError {
			t.Errorf("%s: %+v, %v", what, res, err)
		}
	}
	if got := len(w.engine.turns); got != 1 {
		t.Errorf("%d turns were begun", got)
	}
	for range 2 { // the second time it has been answered
		res, err := mine.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_paliadin", Arguments: args, RequestState: asked.RequestState, InputResponses: answers})
		if err != nil || res.IsError || !strings.Contains(asJSON(res.StructuredContent), "You chose") {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// A call answers before its client gives up, and the run goes on.
func TestAnMCPCallThatTakesLongIsGoneOnWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.assistant("paliadin")
	w.server.mcp.works = 50 * time.Millisecond
	c := ada.connects(t, statelessSince, nil)
	got := c.calls("ask_paliadin", map[string]any{"message": "slow answer"})
	if got.Status != "running" || !strings.Contains(got.text, got.RunID) {
		t.Fatalf("%+v", got)
	}
	w.server.mcp.works = mcpWorks
	w.engine.tell(got.RunID, "proceed")
	w.engine.ended(t, got.RunID)
	if got := c.calls("run", map[string]any{"run_id": got.RunID}); got.Answer != "slow answer" {
		t.Errorf("%+v", got)
	}
}
