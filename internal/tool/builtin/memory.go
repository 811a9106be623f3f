package builtin

import (
	"context"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// Memories keeps what is remembered of conversations; *artifacts.Memories is
// one.
type Memories interface {
	Memory(ctx context.Context, v identity.Viewer, conversationID string) (chat.Memory, error)
	// Remember writes the version after next.Version; a Conflict when there is
	// another by now.
	Remember(ctx context.Context, v identity.Viewer, conversationID string, next chat.Memory) error
}

var _ Memories = (*artifacts.Memories)(nil)

// memory is what is remembered of the conversation; nothing while it is so
// short that nothing can be, which saves the read. What a person has made
// longer than the program would is cut, as every turn is told it (CHAT-20).
func (v completer) memory(ctx context.Context, c *tool.Call, earlier []chat.Message) (chat.Memory, error) {
	if v.memories == nil || !full(earlier) {
		return chat.Memory{}, nil
	}
	m, err := v.memories.Memory(ctx, c.Viewer, c.ConversationID)
	m.Summary = clipped(m.Summary, maxMemory)
	return m, err
}

// remembered is a memory as a model is told it, and as the conversation holds
// it.
func remembered(m chat.Memory) string {
	if m.Summary == "" {
		return ""
	}
	return "Earlier in this conversation:\n" + m.Summary
}

// full reports whether messages are so many, or so long, that the older ones
// are to be summarised before they are dropped.
func full(messages []chat.Message) bool {
	total := 0
	for _, m := range messages {
		total += tokens(m.Content)
	}
	return total > fullHistoryTokens || len(messages) > fullHistoryMessages
}

// due is the seq up to which messages are to be summarised, so that the latest
// stay as they were said; 0 while there is room.
func due(messages []chat.Message) int {
	if !full(messages) {
		return 0
	}
	cut, total := len(messages), 0
	for i := len(messages) - 1; i >= 0 && len(messages)-i <= unsummarisedMessages; i-- {
		if total += tokens(messages[i].Content); total > unsummarisedTokens {
			break
		}
		if messages[i].Role == string(model.User) {
			cut = i
		}
	}
	if cut == 0 {
		return 0
	}
	return messages[cut-1].Seq
}
