package builtin

import (
	"context"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/tool"
)

// maxMemory bounds what is remembered of a conversation, in characters.
const maxMemory = 6000

// writeMemory keeps a conversation's summary, in the place of a shorter one.
type writeMemory struct{ memories Memories }

func (writeMemory) Name() string { return "memory.write_v1" }

func (t writeMemory) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	m := chat.Memory{Summary: clipped(words(c, "summary"), maxMemory), UptoSeq: number(c, "upto_seq", 0)}
	if m.Summary == "" {
		return nil, fault.New(fault.Invalid, "%s needs a summary.", t.Name())
	}
	conversation, err := t.memories.UpdateConversation(ctx, c.Viewer, words(c, "conversation_id"), chat.ConversationChange{Memory: &m})
	if err != nil {
		return nil, err
	}
	return map[string]any{"upto_seq": float64(conversation.Memory().UptoSeq)}, nil
}
