package api

import (
	"context"
	"encoding/json"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/stream"
)

// History is everything of a thread that a person sees, in order (CHAT-15).
type History struct {
	ThreadID string                    `json:"thread_id" format:"uuid"`
	Messages []HistoryMessage          `json:"messages"`
	Pending  Nullable[AssistInterrupt] `json:"pending_interrupt"`
}

// HistoryMessage is one entry of a history. Metadata of an answer has its
// citations, action, confidences, tokens and cost; of the assistant's question
// its type, pal_assist_prompt (C-26).
type HistoryMessage struct {
	ID       string         `json:"id" format:"uuid"`
	Role     string         `json:"role" enum:"user,assistant,system"`
	Content  string         `json:"content"`
	Metadata map[string]any `json:"metadata"`
}

type historyInput struct {
	ThreadID string `path:"thread_id"`
}

// assistHistory reads a thread whole. An id that is no thread of the viewer's
// does not exist (LG-33): one that has not been said anything in does, and is
// empty.
func (s *server) assistHistory(ctx context.Context, in *historyInput) (History, error) {
	v, thread := viewerOf(ctx), id.Canonical(in.ThreadID)
	if !id.Valid(thread) {
		return History{}, fault.New(fault.Invalid, "thread_id is not a UUID.").With(map[string]any{"field": "thread_id"})
	}
	h := History{ThreadID: thread, Messages: []HistoryMessage{}}
	for cursor, more := "", true; more; more = cursor != "" {
		list, next, err := s.Messages.ListMessages(ctx, v, thread, cursor, 100)
		if err != nil {
			return History{}, err
		}
		for _, m := range list {
			if shownInHistory(m) {
				h.Messages = append(h.Messages, HistoryMessage{ID: m.ID, Role: m.Role, Content: m.Content, Metadata: metadata(m)})
			}
		}
		cursor = next
	}
	open, err := s.Interrupts.PendingInterrupts(ctx, v, thread)
	if len(open) > 0 {
		told := assistInterrupt(chat.Asked(open[0]))
		told.ThreadID = thread
		h.Pending.V = &told
	}
	return h, err
}

// assistPrompt is the type of a system message people see: a question the
// assistant asked (INT-29).
const assistPrompt = "pal_assist_prompt"

// shownInHistory leaves out what the system keeps for itself (C-26).
func shownInHistory(m chat.Message) bool {
	switch m.Role {
	case "user", "assistant":
		return true
	case "system":
		return m.Meta["type"] == assistPrompt
	}
	return false
}

// metadata is a message's part beside its words.
func metadata(m chat.Message) map[string]any {
	out := map[string]any{}
	said, _ := m.Meta["data"].(map[string]any) // of the graph's end
	for _, key := range []string{"type", "interrupt_id", "interrupt_type", "cancelled", "truncated", "model", "notice", "confidence_score", "web_query"} {
		for _, from := range []map[string]any{said, m.Meta} {
			if value := from[key]; value != nil {
				out[key] = value
			}
		}
	}
	if m.Role != "assistant" {
		return out
	}
	raw, err := json.Marshal(m.Meta)
	if err != nil {
		raw = nil
	}
	var meta struct {
		Usage stream.UsageData `json:"usage"`
	}
	_ = json.Unmarshal(raw, &meta) // without usage nothing was used
	j := judgedIn(raw).or(unsaid)
	out["citations"], out["action"] = m.Struct.Citations(), j.Action
	out["inference_confidence"], out["retrieval_confidence"] = j.Inference, j.Retrieval
	out["tokens_used"], out["cost_usd"] = tokens(meta.Usage), value(meta.Usage.CostUSD)
	return out
}
