package builtin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// talk is the conversation before a turn, as a model is shown it.
type talk struct {
	messages []model.Message // oldest first, as many as fit
	note     string          // for the system text: what stands for those that do not; empty when all do
	told     string          // what of it the conversation is to hold as a summary
	due      int             // a summary of the messages up to this seq is due; 0: none is
}

// dialogue reads the conversation before this turn, beside which the model is
// told more of so many tokens. A message that is too long to go on with is
// Invalid: in a new conversation there is room for it.
func (v completer) dialogue(ctx context.Context, c *tool.Call, beside int) (talk, error) {
	earlier, err := v.earlier(ctx, c, maxHistoryMessages)
	if err != nil {
		return talk{}, err
	}
	room, most := windowOf(c, beside+tokens(cmp.Or(words(c, "message"), words(c, "question"))), len(earlier) > 0)
	if room < 0 {
		return talk{}, fault.New(fault.Invalid, "Conversation too long, start a new one.").With(map[string]any{"reason": graph.CodeTokenCap})
	}
	if len(earlier) == 0 {
		return talk{}, nil
	}
	memory, err := v.memory(ctx, c, earlier)
	if err != nil {
		return talk{}, err
	}
	from := slices.IndexFunc(earlier, func(m chat.Message) bool { return m.Seq > memory.UptoSeq })
	if from < 0 {
		from = len(earlier)
	}
	rest := earlier[from:]
	kept, dropped := fitting(conversed(rest), min(most, room))
	cut := note(dropped, earlier[0].Seq > memory.UptoSeq+1)
	t := talk{messages: kept, note: paragraphs(remembered(memory), cut)}
	t.told = cmp.Or(remembered(memory), cut)
	if slices.ContainsFunc(earlier, func(m chat.Message) bool { return m.Meta["summary"] == true && m.Content == t.told }) {
		t.told = ""
	}
	if v.memories != nil {
		t.due = due(rest)
	}
	return t, nil
}

// recall reads at most n messages before this turn, as many as fit: the graph
// that asks for few wants no more.
func (v completer) recall(ctx context.Context, c *tool.Call, n int) (talk, error) {
	if n >= maxHistoryMessages {
		return v.dialogue(ctx, c, 0)
	}
	earlier, err := v.earlier(ctx, c, n)
	kept, _ := fitting(conversed(earlier), maxHistoryTokens)
	return talk{messages: kept}, err
}

func (v completer) earlier(ctx context.Context, c *tool.Call, n int) ([]chat.Message, error) {
	if v.history == nil || n <= 0 || c.ConversationID == "" || c.UptoSeq <= 1 {
		return nil, nil
	}
	return v.history.History(ctx, c.Viewer, c.ConversationID, c.UptoSeq, n)
}

// summarise hands a note to the conversation that does not have it yet; it
// becomes a summary message (CHAT-06). It also says what is to be summarised
// once the turn is over.
func (t talk) summarise(out map[string]any) map[string]any {
	if t.told != "" {
		out["earlier"] = t.told
	}
	if t.due > 0 {
		out["summary_due"] = float64(t.due)
	}
	return out
}

func says(role model.Role, text string) model.Message {
	return model.Message{Role: role, Content: []model.Block{{Type: model.Text, Text: text}}}
}

// note stands for what was dropped (CHAT-20).
func note(dropped []model.Message, more bool) string {
	topic := ""
	for _, m := range dropped {
		if m.Role == model.User {
			topic = clipped(firstLine(m.Content[0].Text), maxTopic)
			break
		}
	}
	switch {
	case topic != "":
		return fmt.Sprintf("Earlier in this conversation, we discussed %q (truncated).", topic)
	case len(dropped) > 0 || more:
		return "Earlier in this conversation, we discussed other things (truncated)."
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// clipped keeps at most n characters.
func clipped(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return strings.TrimSpace(string(runes[:n])) + "…"
}

// paragraphs joins what is not empty.
func paragraphs(parts ...string) string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}

// words reads a text input; what is absent is empty.
func words(c *tool.Call, name string) string {
	s, _ := c.Inputs[name].(string)
	return strings.TrimSpace(s)
}

// number reads a number input, or gives the default.
func number(c *tool.Call, name string, standard int) int {
	if f, ok := c.Inputs[name].(float64); ok {
		return int(f)
	}
	return standard
}

// texts reads a list of texts; a single text is a list of one.
func texts(v any) []string {
	switch x := v.(type) {
	case string:
		if x = strings.TrimSpace(x); x != "" {
			return []string{x}
		}
	case []any:
		var out []string
		for _, e := range x {
			if s, ok := e.(string); ok && strings.TrimSpace(s) != "" {
				out = append(out, strings.TrimSpace(s))
			}
		}
		return out
	}
	return nil
}

// jsonPart is the outermost object of a text: models like to wrap it.
func jsonPart(text string) string {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return text
	}
	return text[from : to+1]
}
