package store

import (
	"context"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

var _ chat.MessageSearch = (*Store)(nil)

// MessageWords is what a DB offers that finds messages by their words. How is
// truly of one dialect, so it gives a statement and the body asks it.
type MessageWords interface {
	// MessagesWith is a SELECT of the ids of the person @user's messages that
	// have words beginning with each of the terms, or being it where WholeWord
	// says so, and the parameters it has beside @user.
	MessagesWith(userID string, terms []string) (query string, args Args)
	// IndexMessages is a statement that indexes the words of those of the person
	// @user's messages that are not indexed yet, at most @limit of them.
	IndexMessages() string
	// IndexedMessages names the table of those that are, by message_id.
	IndexedMessages() string
}

// indexed is how many messages are indexed in one transaction: others write in
// between.
const indexed = 500

// indexMessages indexes what a person's messages say that they have not searched
// since. Turns do not, so that they need not wait for it.
func (s *Store) indexMessages(ctx context.Context, v identity.Viewer, words MessageWords) error {
	for {
		var due bool
		err := s.read(ctx, v, func(tx Tx) (err error) {
			due, err = first(tx, `SELECT 1 FROM conversation c JOIN message m ON m.conversation_id = c.id AND m.user_id = @user
				WHERE c.user_id = @user AND m.role IN ('user', 'assistant')
				AND NOT EXISTS (SELECT 1 FROM `+words.IndexedMessages()+` w WHERE w.message_id = m.id) LIMIT 1`, Args{"user": v.UserID}, new(int))
			return err
		})
		if err != nil || !due {
			return err
		}
		err = s.write(ctx, v, func(tx Tx) error {
			_, err := tx.Exec(words.IndexMessages(), Args{"user": v.UserID, "limit": indexed})
			return err
		})
		if err != nil {
			return err
		}
	}
}

// WholeWord reports whether a term is searched for as a word and not as the
// beginning of one: with a single letter begin so many words that looking takes
// longer than anybody waits. A single sign of a script without spaces is a
// beginning like any other.
func WholeWord(term string) bool { return len(term) == 1 }

// SearchMessages implements chat.MessageSearch. What is set aside or was
// suppressed is not shown, and so not found.
func (s *Store) SearchMessages(ctx context.Context, v identity.Viewer, terms []string, cursor string, limit int) (list []chat.FoundMessage, next string, err error) {
	words, ok := s.db.(MessageWords)
	if !ok {
		return nil, "", fault.New(fault.Internal, "This database does not search messages.")
	}
	after, err := begin(cursor)
	if err != nil || len(terms) == 0 {
		return nil, "", err
	}
	if err := s.indexMessages(ctx, v, words); err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	with, args := words.MessagesWith(v.UserID, terms)
	for name, value := range (Args{"user": v.UserID, "at": after.at, "id": orNil(after.id), "limit": size + 1}) {
		args[name] = value
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT m.id, m.conversation_id, m.role, m.content, m.seq, m.created_at, c.title
			FROM message m JOIN conversation c ON c.id = m.conversation_id AND c.user_id = @user AND `+keptConversation("c.id")+`
			WHERE m.user_id = @user AND m.aside = 0 AND NOT m.suppressed AND m.role IN ('user', 'assistant')
			AND (m.created_at, m.id) < (@at, @id) AND m.id IN (`+with+`)
			ORDER BY m.created_at DESC, m.id DESC LIMIT @limit`, args,
			func(scan Scan) (f chat.FoundMessage, err error) {
				err = scan(&f.ID, &f.ConversationID, &f.Role, &f.Content, &f.Seq, when{&f.CreatedAt}, &f.Title)
				return f, err
			})
		list, next = cut(list, size, func(f chat.FoundMessage) place { return place{f.CreatedAt, f.ID} })
		return err
	})
	return list, next, err
}
