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
