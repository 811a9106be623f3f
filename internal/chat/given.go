package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"liminal/internal/fault"
)

const (
	// MaxHistory bounds what a turn brings of what was said before it, in bytes
	// of its texts.
	MaxHistory = 256 << 10
	// maxSaid bounds how many messages that is.
	maxSaid = 2000
)

// Said is a message that a program brings with its turn because it keeps the
// conversation itself.
type Said struct {
	Role    string `json:"role"` // user or assistant
	Content string `json:"content"`
}

// checkHistory refuses what no conversation can hold. A program's conversation is
// a new one with each turn, so it cannot name one too.
func (t NewTurn) checkHistory() error {
	if t.History == nil {
		return nil
	}
	invalid := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With(map[string]any{"field": "history"})
	}
	if t.ConversationID != "" {
		return invalid("A turn that brings its history goes on with no conversation; leave conversation_id or history out.")
	}
	if len(t.History) > maxSaid {
		return invalid("A turn brings at most %d messages of what was said before it.", maxSaid)
	}
	total := 0
	for i, m := range t.History {
		total += len(m.Content)
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return invalid("Message %d of the history is of %q; messages are of user or assistant.", i+1, m.Role)
		case strings.TrimSpace(m.Content) == "":
			return invalid("Message %d of the history is empty.", i+1)
		case !utf8.ValidString(m.Content) || strings.ContainsRune(m.Content, 0):
			return invalid("Message %d of the history is not text.", i+1)
		case total > MaxHistory:
			return invalid("A turn brings at most %d KiB of what was said before it; leave out the oldest.", MaxHistory>>10)
		}
	}
	return nil
}

// HistoryDigest names the history a turn brings; empty: it brings none.
func (t NewTurn) HistoryDigest() string {
	if t.History == nil {
		return ""
	}
	raw, _ := json.Marshal(t.History) // of strings
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
