package sqlite

import (
	"strings"

	"liminal/internal/store"
)

var _ store.MessageWords = (*DB)(nil)

// MessagesWith implements store.MessageWords.
func (db *DB) MessagesWith(userID string, terms []string) (query string, args store.Args) {
	begin := make([]string, len(terms))
	for i, term := range terms {
		begin[i] = joined([]string{term}, "")
		if !store.WholeWord(term) {
			begin[i] += " *"
		}
	}
	return `SELECT r.message_id FROM message_words JOIN message_words_row r ON r.number = message_words.rowid WHERE message_words MATCH @match`,
		store.Args{"match": "scope : " + joined([]string{token(userID)}, "") + " AND content : (" + strings.Join(begin, " AND ") + ")"}
}

// IndexedMessages implements store.MessageWords.
func (db *DB) IndexedMessages() string { return "message_words_row" }

// IndexMessages implements store.MessageWords. A trigger writes the words.
func (db *DB) IndexMessages() string {
	return `INSERT INTO message_words_row (message_id) SELECT m.id FROM conversation c JOIN message m ON m.conversation_id = c.id AND m.user_id = @user
		WHERE c.user_id = @user AND m.role IN ('user', 'assistant')
		AND NOT EXISTS (SELECT 1 FROM message_words_row w WHERE w.message_id = m.id) LIMIT @limit`
}
