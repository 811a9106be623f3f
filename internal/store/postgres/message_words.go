package postgres

import (
	"strings"

	"liminal/internal/store"
)

var _ store.MessageWords = (*DB)(nil)

// MessagesWith implements store.MessageWords. Terms hold letters, marks and
// numbers only, so that quoting them is enough. The function is what the
// operator @@ calls, which would read as a parameter; under row-level security
// no index would serve it, and those of a person are few.
func (db *DB) MessagesWith(_ string, terms []string) (query string, args store.Args) {
	begin := make([]string, len(terms))
	for i, term := range terms {
		begin[i] = "'" + strings.ReplaceAll(term, "'", "''") + "'"
		if !store.WholeWord(term) {
			begin[i] += ":*"
		}
	}
	return `SELECT w.message_id FROM message_words w WHERE w.user_id = @user AND ts_match_vq(w.words, CAST(@match AS tsquery))`,
		store.Args{"match": strings.Join(begin, " & ")}
}

// IndexedMessages implements store.MessageWords.
func (db *DB) IndexedMessages() string { return "message_words" }

// IndexMessages implements store.MessageWords. Of two searches at once one
// indexes a message.
func (db *DB) IndexMessages() string {
	return `INSERT INTO message_words (message_id, user_id, words) SELECT m.id, m.user_id, message_lexemes(m.content) FROM conversation c JOIN message m ON m.conversation_id = c.id AND m.user_id = @user
		WHERE c.user_id = @user AND m.role IN ('user', 'assistant')
		AND NOT EXISTS (SELECT 1 FROM message_words w WHERE w.message_id = m.id) LIMIT @limit ON CONFLICT (message_id) DO NOTHING`
}
