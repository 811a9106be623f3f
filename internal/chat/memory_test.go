package chat_test

import (
	"testing"

	"liminal/internal/chat"
)

// Requirements: CHAT-19
func TestAMemoryOnlyGrows(t *testing.T) {
	t.Parallel()
	before := map[string]any{"docs": map[string]any{"a": "b"}}
	c := chat.Conversation{Meta: before}
	if c.Memory().UptoSeq != 0 || !c.Remember(chat.Memory{Summary: "one", UptoSeq: 4}) || c.Memory() != (chat.Memory{Summary: "one", UptoSeq: 4}) {
		t.Errorf("%+v", c.Meta)
	}
	if c.Remember(chat.Memory{Summary: "older", UptoSeq: 4}) || c.Remember(chat.Memory{UptoSeq: 9}) || c.Memory().Summary != "one" {
		t.Errorf("%+v", c.Meta)
	}
	if len(before) != 1 || c.Meta["docs"] == nil {
		t.Error("it wrote into the meta it was given, or lost what was there")
	}
}
