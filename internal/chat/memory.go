package chat

import "maps"

// Memory is what is remembered of a conversation's older messages, in words
// (CHAT-19): it stands for all of them up to a seq, and is extended as the
// conversation goes on instead of being made anew.
type Memory struct {
	Summary string
	UptoSeq int // the last message it covers; 0: nothing is remembered
}

// memoryKey is where a conversation's meta holds its memory.
const memoryKey = "memory"

// Memory is what the conversation's meta says is remembered.
func (c Conversation) Memory() Memory {
	held, _ := c.Meta[memoryKey].(map[string]any)
	summary, _ := held["summary"].(string)
	upto, _ := held["upto_seq"].(float64)
	if summary == "" || upto < 1 {
		return Memory{}
	}
	return Memory{Summary: summary, UptoSeq: int(upto)}
}

// Remember lays a memory into a conversation's meta and reports whether it
// changed: one that covers less than what is remembered already is not taken.
func (c *Conversation) Remember(m Memory) bool {
	if m.Summary == "" || m.UptoSeq <= c.Memory().UptoSeq {
		return false
	}
	meta := make(map[string]any, len(c.Meta)+1)
	maps.Copy(meta, c.Meta)
	meta[memoryKey] = map[string]any{"summary": m.Summary, "upto_seq": float64(m.UptoSeq)}
	c.Meta = meta
	return true
}
