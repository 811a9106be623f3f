package chat_test

import (
	"testing"

	"liminal/internal/chat"
)

// Requirements: CHAT-19
func TestAConversationKnowsHowFarItIsSummarised(t *testing.T) {
	t.Parallel()
	before := map[string]any{"docs": map[string]any{"a": "b"}}
	c := chat.Conversation{Meta: before}
	if c.Summarised() != 0 {
		t.Errorf("%+v", c.Meta)
	}
	if c.Summarise(4); c.Summarised() != 4 {
		t.Errorf("%+v", c.Meta)
	}
	if len(before) != 1 || c.Meta["docs"] == nil {
		t.Error("it wrote into the meta it was given, or lost what was there")
	}
	if broken := (chat.Conversation{Meta: map[string]any{"memory": map[string]any{"upto_seq": -3.0}}}); broken.Summarised() != 0 {
		t.Errorf("%d", broken.Summarised())
	}
}

// Requirements: CHAT-19
func TestEveryConversationHasItsOwnMemory(t *testing.T) {
	t.Parallel()
	first, again := chat.MemoryID("a"), chat.MemoryID("a")
	if first != again || first == chat.MemoryID("b") {
		t.Error("an id is not the conversation's own")
	}
}
