package chat

import (
	"strconv"

	"liminal/internal/id"
)

// The ids of a turn's messages are derived from its run: they are known before
// the messages are, and a turn writes each once however often it closes
// (CHAT-28).

// AskedID is the id of the person's message that began a turn.
func AskedID(runID string) string { return id.Derive(runID, "user") }

// AnswerID is the id of a turn's answer, written or not.
func AnswerID(runID string) string { return id.Derive(runID, "assistant") }

// NoticeID is the id of Notice n of a turn, from 0 (see Close).
func NoticeID(runID string, n int) string { return id.Derive(runID, "notice", strconv.Itoa(n)) }
