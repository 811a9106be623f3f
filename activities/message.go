package activities

import (
	"encoding/json"

	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/safety"
)

// text is what the turn leaves as its answer: the response, or what had been
// written when the person cancelled.
func (c *closing) text() string {
	if c.status == run.Cancelled {
		return c.Tally.Partial
	}
	return c.Outcome.Response
}

// message is the assistant's; a turn that failed, or was cancelled before a
// word was written, has none.
func (c *closing) message() *chat.Message {
	text := c.text()
	if c.status == run.Failed || c.status == run.Cancelled && text == "" {
		return nil
	}
	content := chat.Compose(text, chat.ReadCitations(c.Outcome.Citations), c.tools()).Attach(chat.ReadRecords(c.Outcome.Citations)...).Add(c.redactions(text)...)
	content.Summary = summaryOf(content)
	m := &chat.Message{
		ID: chat.AnswerID(c.Run.RunID), ConversationID: c.Opened.ConversationID, RunID: c.Run.RunID,
		Sender: "assistant", Role: "assistant", Content: text,
		Struct:    content,
		TokensIn:  c.Tally.Usage.Input + c.Tally.Usage.CacheRead + c.Tally.Usage.CacheWrite,
		TokensOut: c.Tally.Usage.Output, CreatedAt: c.set.now(), Meta: c.meta(),
	}
	return m
}

// meta is what is kept beside the text. The trace is on the run's row.
func (c *closing) meta() map[string]any {
	meta := map[string]any{"run_id": c.Run.RunID, "usage": c.usage()}
	if c.Tally.Model != "" {
		meta["model"] = c.Tally.Model
	}
	if len(c.Outcome.Data) > 0 {
		meta["data"] = c.Outcome.Data // what the graph's end says beside the text
	}
	if c.Outcome.Suppressed {
		meta["suppressed"] = true // INT-10
	}
	if c.status == run.Cancelled {
		meta["cancelled"] = true
	}
	if c.Opened.Judged != nil && c.Opened.Judged.Risk != safety.Low {
		meta["safety"] = c.Opened.Judged
	}
	if c.Tally.Cut {
		meta["truncated"] = true
	}
	if c.Tally.Strange {
		meta["strange"] = true
	}
	if routed := c.routing(); routed.Adapters != nil {
		meta["adapters"], meta["gates"] = routed.Adapters, routed.Gates
	}
	if len(c.Tally.Lessons) > 0 {
		meta["lessons"] = c.Tally.Lessons
	}
	return meta
}

// shownRouting is the part of a router's answer that readers see.
type shownRouting struct {
	Adapters json.RawMessage `json:"adapters"`
	Gates    json.RawMessage `json:"gates"`
}

// routing is what a reader wants to know of the router's answer.
func (c *closing) routing() (r shownRouting) {
	_ = json.Unmarshal(c.Opened.Routing, &r) // a router that names neither says nothing here
	return r
}

// tools are the turn's tool calls as its message keeps them (TOOL-14).
func (c *closing) tools() []chat.ToolRecord {
	var out []chat.ToolRecord
	for _, r := range c.Tally.Records {
		if c.Opened.Tools[r.Tool].Plain {
			continue // the run's trace has it
		}
		t := chat.ToolRecord{
			Name: r.Tool, Node: r.Node, Arguments: small(r.Arguments), Result: small(r.Result),
			Status: "ok", Summary: r.Summary, DurationMS: r.MS,
			Mutating: r.Mutating, Approved: r.Approved,
		}
		if r.Status != "ok" {
			t.Status = "error"
		}
		out = append(out, t)
	}
	return out
}

// notices are the turn's questions as system notices, each followed by what
// the person answered (INT-29). Their ids and places are given where they are
// stored (chat.NoticeID).
func (c *closing) notices() []chat.Message {
	var out []chat.Message
	if c.Tally.Earlier != "" {
		out = append(out, chat.Message{
			Sender: "system", Role: "system", Content: c.Tally.Earlier, CreatedAt: c.set.now(), Meta: map[string]any{"summary": true},
		})
	}
	for _, n := range c.Tally.Notices {
		meta := map[string]any{"type": "pal_assist_prompt", "interrupt_id": n.ID, "interrupt_type": n.Type}
		if n.Cancelled || n.Expired {
			meta["cancelled"], meta["expired"] = n.Cancelled, n.Expired
		}
		out = append(out, chat.Message{
			Sender: "system", Role: "system", Content: n.Message, CreatedAt: n.AskedAt, Meta: meta,
		})
		if n.Cancelled || n.Expired || n.Answer == nil {
			continue
		}
		out = append(out, chat.Message{
			Sender: "user", Role: "user", Content: n.said(), CreatedAt: n.At,
			Meta: map[string]any{"interrupt_id": n.ID, "value": n.Answer},
		})
	}
	return out
}

// said is an answer as text: the label of the chosen option or the words of a
// form, the text, or JSON.
func (n Notice) said() string {
	if n.Label != "" {
		return n.Label
	}
	if text, ok := n.Answer.(string); ok {
		return text
	}
	raw, err := json.Marshal(n.Answer)
	if err != nil {
		return ""
	}
	return string(raw)
}
