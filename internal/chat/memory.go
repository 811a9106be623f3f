package chat

import (
	"maps"

	"liminal/internal/id"
)

// Memory is what is remembered of a conversation's older messages, in words
// (CHAT-19): it stands for all of them up to a seq, and is extended as the
// conversation goes on instead of being made anew. It is kept as an artifact,
// which its owner may read and change (ART-11).
type Memory struct {
	Summary string
	UptoSeq int // the last message it covers; 0: none is known to be
	Version int // of the artifact; 0: nothing is remembered
	// Path changes whenever the conversation's path does other than grow: what
	// was made from another one is not remembered.
	Path int
}

// MemoryID is the id of the artifact that holds a conversation's memory, made
// or not.
func MemoryID(conversationID string) string { return id.Derive(conversationID, memoryKey) }

// memoryKey is where a conversation's meta says how far its memory goes.
const memoryKey = "memory"

// Summarised is the last message of the conversation that was ever summarised;
// 0: none was. What the artifact says of itself counts up to here: a person
// may have changed it.
func (c Conversation) Summarised() int {
	held, _ := c.Meta[memoryKey].(map[string]any)
	upto, _ := held["upto_seq"].(float64)
	return max(0, int(upto))
}

// Summarise notes in a conversation's meta that its memory goes up to a seq.
func (c *Conversation) Summarise(upto int) {
	meta := make(map[string]any, len(c.Meta)+1)
	maps.Copy(meta, c.Meta)
	meta[memoryKey] = map[string]any{"upto_seq": float64(upto)}
	c.Meta = meta
}

// Forget notes that the versions of its memory up to one tell of messages that
// are set aside, so that nothing of the path is summarised.
func (c *Conversation) Forget(version int) {
	c.Summarise(0)
	c.Meta[memoryKey] = map[string]any{"upto_seq": 0.0, "forgotten": float64(version)}
}

// Forgotten is the last version of the conversation's memory that is not to be
// told any more; 0: all that there are may be.
func (c Conversation) Forgotten() int {
	held, _ := c.Meta[memoryKey].(map[string]any)
	version, _ := held["forgotten"].(float64)
	return int(version)
}
