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
