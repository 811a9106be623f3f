package builtin

import (
	"unicode/utf8"

	"liminal/internal/chat"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// The history window: how much of the conversation before a turn a model is
// shown (CHAT-19, CHAT-20). Tokens are those of tokens, which estimates.
const (
	maxHistoryMessages   = 40                       // earlier messages that are read
	maxHistoryTokens     = 4000                     // tokens of them that are kept (GRND-26)
	hardContextTokens    = 6000                     // tokens of them with the message; one longer is refused (GRND-26)
	fullHistoryTokens    = maxHistoryTokens * 3 / 4 // tokens from which the older ones are to be summarised
	fullHistoryMessages  = 30                       // messages from which they are
	unsummarisedTokens   = maxHistoryTokens / 2     // tokens of the latest that are then left out of the summary
	unsummarisedMessages = 14                       // messages of the latest that are
	maxTopic             = 80                       // characters of what was dropped that the note names
)

// windowOf is how many tokens of earlier messages there is room for at all, beside
// what the model is told anyway; less than none: the turn is refused. most of them
// are shown. Where the surface of the turn says nothing, the first message of a
// conversation may be of any length.
func windowOf(c *tool.Call, told int, goesOn bool) (room, most int) {
	if b := c.Bounds; b != nil && b.InputTokens > 0 {
		room = b.InputTokens
		if b.RefuseTokens > 0 {
			room = b.RefuseTokens
		}
		return room - told, max(0, b.InputTokens-told)
	}
	if !goesOn {
		return 0, 0
	}
	return hardContextTokens - told, maxHistoryTokens
}

// conversed are messages as a model is shown them.
func conversed(messages []chat.Message) []model.Message {
	var turns []model.Message
	for _, m := range messages {
		turns = spoken(turns, m)
	}
	return turns
}

// spoken adds a message of the person or the assistant; notices, summaries and
// what was suppressed are not part of the dialogue. Two of the same role in a
// row become one: providers want them to take turns.
func spoken(turns []model.Message, m chat.Message) []model.Message {
	role := model.Role(m.Role)
	hidden := m.Meta["suppressed"] == true
	if role != model.User && role != model.Assistant || m.Content == "" || hidden {
		return turns
	}
	if last := len(turns) - 1; last >= 0 && turns[last].Role == role {
		turns[last].Content[0].Text += "\n\n" + m.Content
		return turns
	}
	return append(turns, says(role, m.Content))
}

// fitting drops the oldest pairs until the rest fits into room. What is kept
// begins with the person.
func fitting(turns []model.Message, room int) (kept, dropped []model.Message) {
	total := 0
	for _, m := range turns {
		total += tokens(m.Content[0].Text)
	}
	cut := 0
	for cut < len(turns) && (total > room || turns[cut].Role != model.User) {
		total -= tokens(turns[cut].Content[0].Text)
		cut++
	}
	return turns[cut:], turns[:cut]
}

// tokens estimates; providers count for themselves.
func tokens(text string) int { return utf8.RuneCountInString(text)/4 + 4 }
