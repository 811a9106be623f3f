package builtin

import (
	"context"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// Bounds of the part of a conversation that is summarised at once.
const (
	maxRemembered = 200   // messages
	maxLine       = 1500  // characters of one
	maxTranscript = 24000 // characters of all; the oldest are left out
)

// readMemory reads what a conversation's summary does not cover yet.
type readMemory struct {
	history  History
	memories Memories
}

func (readMemory) Name() string { return "memory.read_v1" }

func (t readMemory) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	id, upto := words(c, "conversation_id"), number(c, "upto_seq", 0)
	conversation, err := t.memories.Conversation(ctx, c.Viewer, id)
	if err != nil {
		return nil, err
	}
	m := conversation.Memory()
	out := map[string]any{"notes": m.Summary, "text": "", "upto_seq": float64(upto), "needed": false}
	if upto <= m.UptoSeq {
		return out, nil
	}
	messages, err := t.history.History(ctx, c.Viewer, id, upto+1, min(upto-m.UptoSeq, maxRemembered))
	if err != nil {
		return nil, err
	}
	text := transcript(messages)
	out["text"], out["needed"] = text, text != ""
	return out, nil
}

// transcript is messages one a line, each with who said it; the latest, when
// they are too long.
func transcript(messages []chat.Message) string {
	var lines []string
	total := 0
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		said := m.Role == string(model.User) || m.Role == string(model.Assistant)
		if !said || m.Content == "" || m.Meta["suppressed"] == true {
			continue
		}
		line := m.Role + ": " + clipped(knowledge.Fold(m.Content), maxLine)
		if total += len(line); total > maxTranscript {
			break
		}
		lines = append([]string{line}, lines...)
	}
	return strings.Join(lines, "\n")
}
